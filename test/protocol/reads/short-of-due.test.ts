/** A clock that adds up fractions may stand a hair short of what a timer waited for. */
import { expect, test } from "vitest";
import type { Clock } from "../../../lib/protocol/deadline.ts";
import { bookieId, region } from "../../../lib/protocol/ids.ts";
import { ReadPolicy } from "../../../lib/protocol/reads/read-policy.ts";
import { speculativeRead } from "../../../lib/protocol/reads/speculative-read.ts";

/** Fires its timers one after the other, each a little before its time. */
class HastyClock implements Clock {
  fired = 0;
  #nowMs = 1_000;
  #due: { atMs: number; fire: () => void }[] = [];
  nowMs = () => this.#nowMs;
  monotonicMs = () => this.#nowMs;
  startTimer(delayMs: number, fire: () => void) {
    const due = { atMs: this.#nowMs + delayMs, fire };
    this.#due.push(due);
    return { cancel: () => void this.#due.splice(this.#due.indexOf(due), this.#due.includes(due) ? 1 : 0) };
  }
  async run(until: () => boolean): Promise<void> {
    for (; !until() && this.fired < 1_000; this.fired++) {
      const next = this.#due.sort((one, other) => one.atMs - other.atMs).shift();
      if (next === undefined) throw new Error("nothing is due");
      this.#nowMs = Math.max(this.#nowMs, next.atMs - 1e-7);
      next.fire();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

test("a read of silent replicas ends after a few timers, not after one timer for ever", async () => {
  const clock = new HastyClock();
  const place = { region: region("east") };
  const policy = new ReadPolicy({ clock, random: { uint32: () => 7 }, place });
  const writeSet = ["a", "b", "c"].map((rack) => ({ id: bookieId(rack), place: { ...place, rack } }));
  let said: string | undefined;
  void speculativeRead(policy, {
    writeSet,
    call: () => new Promise<never>(() => undefined),
    judge: () => ({ usable: false, said: "nothing" }),
  }).then(({ kind }) => {
    said = kind;
  });
  await clock.run(() => said !== undefined);
  expect(said).toBe("none");
  expect(clock.fired).toBeLessThan(50);
});
