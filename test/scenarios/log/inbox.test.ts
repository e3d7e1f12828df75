/** Stories of a log's inbox: one process serves, the others post to it (rules 36 to 42). */
import { expect, test } from "vitest";
import { LogWorld } from "./log-world.ts";

const world = () => LogWorld.make({ leases: true, inbox: true });
const times = { lifeMs: 60_000, idleMs: 2_000 };

test("what many processes post to a resident is recorded once each, and answered", async () => {
  const w = await world();
  const resident = w.client("R").appends.serveInbox("orders" as never, times);
  await w.world.clock.advance(100);
  const texts = Array.from({ length: 30 }, (_, index) => `p${index}`);
  const answers = await w.run(Promise.all(texts.map((text) => w.client(text).sending(text))));
  expect(new Set(answers.flat())).toEqual(new Set(texts.map((_, index) => `at ${index}`)));
  expect((await w.client("T", "west").read(0)).sort()).toEqual([...texts].sort());
  expect(await w.run(resident)).toBe("idle");
});
