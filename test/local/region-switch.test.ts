/** A region's switch: what a call that meets a lost region does, and what its caller learns. */
import { describe, expect, test } from "vitest";
import { RegionSwitch } from "../../lib/local/region-switch.ts";
import { FencelineError } from "../../lib/protocol/errors.ts";
import { region } from "../../lib/protocol/ids.ts";

/** An effect that happens when the test says so. */
function heldEffect() {
  let finish = () => {};
  let start = () => {};
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  let effects = 0;
  const call = async () => {
    start();
    await held;
    effects += 1;
    return "answer";
  };
  return { call, started, finish: () => finish(), effects: () => effects };
}

async function failureOf(promise: Promise<unknown>): Promise<FencelineError> {
  const failure = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof FencelineError) return failure;
  throw new Error(`expected a FencelineError, got ${failure}`);
}

async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const later = new Promise((resolve) => setImmediate(() => resolve("pending")));
  return (await Promise.race([promise.catch(() => "rejected"), later])) === "pending";
}

describe("a region that is up", () => {
  test("passes answers and errors on as they are", async () => {
    const here = new RegionSwitch(region("r"));
    expect(await here.call("x", async () => 7)).toBe(7);
    const error = new Error("own");
    await expect(here.call("x", () => Promise.reject(error))).rejects.toBe(error);
    const throwing = () => {
      throw error;
    };
    await expect(here.call("x", throwing)).rejects.toBe(error);
  });
});

describe("a region that refuses", () => {
  test("RX3: a new call has no effect, rejects at once, and says so", async () => {
    const here = new RegionSwitch(region("r"));
    here.down("refusing");
    const effect = heldEffect();
    effect.finish();
    const failure = await failureOf(here.call("add", effect.call));
    expect(failure).toMatchObject({ code: "unavailable", sideEffects: "none" });
    expect(failure.message).toContain("region r refuses");
    expect(effect.effects()).toBe(0);
  });

  test("RX1: a call in flight loses its reply at once, and its effect happens", async () => {
    const here = new RegionSwitch(region("r"));
    const effect = heldEffect();
    const call = here.call("add", effect.call);
    await effect.started;
    here.down("refusing");
    expect(await failureOf(call)).toMatchObject({ sideEffects: "possible" });
    expect(effect.effects()).toBe(0);
    effect.finish();
    await new Promise((resolve) => setImmediate(resolve));
    expect(effect.effects()).toBe(1);
  });

  test("RX1: a reply from before the loss is lost although the region is up again", async () => {
    const here = new RegionSwitch(region("r"));
    const effect = heldEffect();
    const call = here.call("add", effect.call);
    await effect.started;
    here.down("refusing");
    here.up();
    effect.finish();
    expect(await failureOf(call)).toMatchObject({ sideEffects: "possible" });
    expect(here.losses).toBe(1);
    expect(await here.call("add", async () => "new")).toBe("new");
  });
});

describe("a region that hangs", () => {
  test("RX2, RX3: a new call is silent, without effect, and rejects when the region is up again", async () => {
    const here = new RegionSwitch(region("r"));
    here.down("hanging");
    const effect = heldEffect();
    effect.finish();
    const call = here.call("add", effect.call);
    expect(await isPending(call)).toBe(true);
    here.up();
    expect(await failureOf(call)).toMatchObject({ sideEffects: "possible" });
    expect(effect.effects()).toBe(0);
  });

  test("RX1, RX2: a call in flight is silent, its effect happens, its reply never comes", async () => {
    const here = new RegionSwitch(region("r"));
    const effect = heldEffect();
    const call = here.call("add", effect.call);
    await effect.started;
    here.down("hanging");
    effect.finish();
    expect(await isPending(call)).toBe(true);
    expect(effect.effects()).toBe(1);
    here.up();
    expect(await failureOf(call)).toMatchObject({ sideEffects: "possible" });
  });

  test("that begins to refuse ends the silence; that begins to hang again goes on with it", async () => {
    const here = new RegionSwitch(region("r"));
    here.down("hanging");
    const call = here.call("add", async () => 1);
    here.down("hanging");
    expect(await isPending(call)).toBe(true);
    here.down("refusing");
    await failureOf(call);
    expect(here.losses).toBe(1);
  });
});
