/** What a reader asks once its caller has left: nothing more, whichever operation it is and wherever it was. */
import { expect, test } from "vitest";
import { seqNum } from "../../../lib/protocol/ids.ts";
import type { ReadOperations, ReadPlace } from "../../../lib/protocol/log/operations.ts";
import type { MetadataStore } from "../../../lib/protocol/ports.ts";
import { LOG, LogClient, LogWorld } from "../../scenarios/log/log-world.ts";

type Signal = { readonly aborted: boolean };

const reading = (from: ReadPlace | ReturnType<typeof seqNum>) => (reads: ReadOperations, signal: Signal) =>
  reads.read({ log: LOG, from, limit: 100, consistency: "strong", signal });

const operations: [string, (reads: ReadOperations, signal: Signal) => Promise<unknown>][] = [
  ["a read", reading(seqNum(0))],
  ["a read from a time", reading({ kind: "timestamp", timestampMs: 10 })],
  ["a read from before the tail", reading({ kind: "tail-offset", count: 15 })],
  [
    "a read from a DLSN",
    reading({ kind: "dlsn", dlsn: { segment: 2 as never, entry: 1 as never, slot: 0 } }),
  ],
  ["the tail", (reads, signal) => reads.tail(LOG, "strong", signal)],
  ["a description", (reads, signal) => reads.describeLog(LOG, signal)],
  ["the segments", (reads, signal) => reads.segments(LOG, signal)],
  ["the owner", (reads, signal) => reads.owner(LOG, signal)],
  ["the list of logs", (reads, signal) => reads.listLogs({ prefix: "", limit: 10 }, signal)],
];

test.each(operations)("%s asks nothing more, however far it was", async (_, operation) => {
  const w = await LogWorld.make({ segmentBytesMax: 300 });
  const writer = w.client("P");
  for (let at = 0; at < 30; at++) await writer.append(`record ${at}`);
  let client = 0;
  const abandonedAfter = async (calls: number) => {
    const count = { before: 0, after: 0 };
    const signal = {
      get aborted() {
        return count.before >= calls;
      },
    };
    const note = () => {
      if (signal.aborted) count.after += 1;
      else count.before += 1;
    };
    client += 1;
    const ports = w.world.ports(`R${client}`, "west");
    const { metadata, bookies } = ports;
    const counted: MetadataStore = {
      get: (...given) => {
        note();
        return metadata.get(...given);
      },
      query: (...given) => {
        note();
        return metadata.query(...given);
      },
      write: (...given) => metadata.write(...given),
      remove: (...given) => metadata.remove(...given),
    };
    const bookie: typeof bookies.bookie = (id) => {
      note();
      return bookies.bookie(id);
    };
    const { reads } = new LogClient(w, `R${client}`, {
      ...ports,
      metadata: counted,
      bookies: { bookie } as never,
    });
    const outcome = await w.run(
      operation(reads, signal).then(
        () => "done",
        (error) => error.code as string,
      ),
    );
    return { outcome, ...count };
  };
  const whole = await abandonedAfter(Number.POSITIVE_INFINITY);
  expect(whole.outcome).toBe("done");
  for (let calls = 0; calls < whole.before; calls++) {
    const { outcome, after } = await abandonedAfter(calls);
    // What one step asks at once: a name's items, or the copies of an entry and those read ahead of it.
    expect({ calls, outcome, isLittle: after <= 4 }).toEqual({
      calls,
      outcome: "unavailable",
      isLittle: true,
    });
  }
});
