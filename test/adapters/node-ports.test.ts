/** The ports over Node's own clock, randomness and digests keep their contracts. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ConsoleTrace, type TraceLevel } from "../../lib/adapters/node/console-trace.ts";
import { NodeDigest } from "../../lib/adapters/node/node-digest.ts";
import { SystemClock } from "../../lib/adapters/node/system-clock.ts";
import { SystemRandom } from "../../lib/adapters/node/system-random.ts";
import { clockContract } from "../contracts/clock-contract.ts";
import { digestContract } from "../contracts/digest-contract.ts";
import { randomContract } from "../contracts/random-contract.ts";
import { sampleEvents, traceContract } from "../contracts/trace-contract.ts";
import { TestClock } from "../scenarios/test-clock.ts";
import { SeededRandom } from "../sim/seeded-random.ts";

clockContract("the system's", () => ({ clock: new SystemClock(), advance: (ms) => sleep(ms + 2) }));
clockContract("a story's", () => {
  const clock = new TestClock();
  return { clock, advance: (ms) => clock.advance(ms) };
});

randomContract("the system's", () => new SystemRandom());
randomContract("the simulator's", () => new SeededRandom(7, "contract"));

digestContract("Node's", () => new NodeDigest());

const line = () => undefined;
traceContract("lines", () => new ConsoleTrace({ write: line, clock: new SystemClock(), level: "debug" }));
traceContract("lines that cannot be written", () => {
  const write = () => {
    throw new Error("EPIPE");
  };
  return new ConsoleTrace({ write, clock: new SystemClock(), level: "debug" });
});

describe("trace lines", () => {
  function linesAt(level?: TraceLevel): string[] {
    const lines: string[] = [];
    const write = (one: string) => lines.push(one);
    const trace = new ConsoleTrace({
      write,
      clock: new TestClock(),
      ...(level === undefined ? {} : { level }),
    });
    for (const event of sampleEvents) trace.emit(event);
    return lines;
  }

  it("are JSON, one event each, with time and level", () => {
    const lines = linesAt("debug");
    expect(lines).toHaveLength(sampleEvents.length);
    for (const [index, text] of lines.entries()) {
      expect(text).not.toContain("\n");
      expect(JSON.parse(text)).toMatchObject({ time: "2027-01-15T08:00:00.000Z", ...sampleEvents[index] });
    }
  });

  it("are quiet by default: only what a person must look at", () => {
    const events = linesAt().map((text) => JSON.parse(text).event);
    expect(events).toEqual(["ack-waits-for-regions", "corrupt-entry", "log-alarm"]);
  });

  it("grow with the level, and are none when off", () => {
    const counts = (["off", "error", "warn", "info", "debug"] as const).map((level) => linesAt(level).length);
    expect(counts[0]).toBe(0);
    expect(counts).toEqual([...counts].sort((one, other) => one - other));
    expect(new Set(counts).size).toBe(5);
  });
});
