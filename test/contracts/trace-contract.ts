/** What every trace must do: take every event, change none, throw never. */
import { describe, expect, it } from "vitest";
import { bookieId, entryId, ledgerId, logIncarnation, region, seqNum } from "../../lib/protocol/ids.ts";
import type { Trace } from "../../lib/protocol/ports.ts";
import type { TraceEvent } from "../../lib/protocol/trace-events.ts";

const ledger = { ledgerId: ledgerId(7) };
const log = { log: logIncarnation("l0g") };
const bookie = bookieId("us-east-1.b1~s1");

/** One event of each kind; the type makes a new kind an error here. */
const samples: { readonly [E in TraceEvent["event"]]: Extract<TraceEvent, { event: E }> } = {
  "ledger-created": { event: "ledger-created", ...ledger, ensemble: [bookie] },
  "entry-acknowledged": { event: "entry-acknowledged", ...ledger, entryId: entryId(0) },
  "ack-waits-for-regions": {
    event: "ack-waits-for-regions",
    ...ledger,
    entryId: entryId(2),
    regions: [region("us-east-1")],
    count: 1,
  },
  "bookie-failed": { event: "bookie-failed", ...ledger, bookie, call: "add", reason: 'a "quoted"\nreason' },
  "ensemble-changed": {
    event: "ensemble-changed",
    ...ledger,
    firstEntry: entryId(1),
    replaced: [bookie],
    by: [bookie],
    unreplaced: [],
  },
  "ensemble-change-refused": { event: "ensemble-change-refused", ...ledger, reason: "none left" },
  "writer-stopped": {
    event: "writer-stopped",
    ...ledger,
    lastAddConfirmed: entryId(-1),
    code: "fenced",
    reason: "the ledger is CLOSED",
  },
  "ledger-closed": { event: "ledger-closed", ...ledger, lastEntry: entryId(-1), by: "recovery" },
  "recovery-started": { event: "recovery-started", ...ledger, firstEntry: entryId(0) },
  "recovery-adopted": { event: "recovery-adopted", ...ledger, lastEntry: entryId(3) },
  "recovery-failed": { event: "recovery-failed", ...ledger, reason: "two regions silent" },
  "corrupt-entry": { event: "corrupt-entry", ...ledger, entryId: entryId(0), bookie },
  "ledger-swept": { event: "ledger-swept", ...ledger, sweep: "first" },
  "segment-opened": {
    event: "segment-opened",
    ...log,
    ...ledger,
    firstSeqNum: seqNum(0),
    region: region("us-east-1"),
    how: "opened",
  },
  "log-trimmed": { event: "log-trimmed", ...log, trimPoint: seqNum(5) },
  "log-sealed": { event: "log-sealed", ...log, tail: seqNum(9) },
  "log-deleting": { event: "log-deleting", ...log },
  "log-deleted": { event: "log-deleted", ...log },
  "chain-item-removed": { event: "chain-item-removed", ...log, ...ledger, firstSeqNum: seqNum(0) },
  "ledger-collected": { event: "ledger-collected", ...ledger, lastEntry: entryId(-1) },
  "segment-resumed": { event: "segment-resumed", ...log, ...ledger, firstEntry: entryId(4) },
  "producers-restored": {
    event: "producers-restored",
    ...ledger,
    firstEntry: entryId(0),
    lastEntry: entryId(9),
  },
  "lease-acquired": { event: "lease-acquired", ...log, clean: true },
  "lease-released": { event: "lease-released", ...log, clean: false },
  "lease-lost": { event: "lease-lost", ...log },
  "ledger-abandoned": { event: "ledger-abandoned", ...ledger, reason: "trimmed" },
  "tail-settled": { event: "tail-settled", ...log, how: "takeover" },
  "log-read": {
    event: "log-read",
    ...log,
    reads: 2,
    attempts: 4,
    hedges: 1,
    crossRegionHedges: 1,
    failovers: 1,
    wins: [["same-region", 2]],
    elapsedMs: 41.5,
  },
  "registry-not-read": { event: "registry-not-read", reason: "no answer in 3000 ms" },
  "log-alarm": { event: "log-alarm", ...log, reason: "rule 33d" },
};

export const sampleEvents: readonly TraceEvent[] = Object.values(samples);

export function traceContract(name: string, make: () => Trace): void {
  describe(`trace: ${name}`, () => {
    it("takes every kind of event, changes none of them and does not throw", () => {
      const trace = make();
      const before = structuredClone(sampleEvents);
      for (const event of sampleEvents) trace.emit(event);
      expect(sampleEvents).toEqual(before);
    });
  });
}
