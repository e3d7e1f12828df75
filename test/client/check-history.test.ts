/** Each promise of a verification can fail, alone. */
import { expect, test } from "vitest";
import { checkHistory } from "../../lib/client/verify/check-history.ts";
import type { Attempt, FinalRecord, History, Outcome, StrongRead } from "../../lib/client/verify/history.ts";
import { reportOf } from "../../lib/client/verify/report.ts";

const dlsn = (seqNum: number) => `0001-${String(seqNum).padStart(4, "0")}-00000`;

const acknowledged = (seqNum: number): Outcome => ({ kind: "acknowledged", seqNum, dlsn: dlsn(seqNum) });

/** An attempt whose times are its place in the story. */
function attempt(body: string, at: number, outcome: Outcome, fields: Partial<Attempt> = {}): Attempt {
  const times = { startMs: at * 100, endMs: at * 100 + 50 };
  return { log: "l", body, appender: 1, turn: at, ...times, outcome, ...fields };
}

const record = (seqNum: number, body: string, fields: Partial<FinalRecord> = {}): FinalRecord => ({
  seqNum,
  dlsn: dlsn(seqNum),
  timestampMs: 1,
  body,
  ...fields,
});

const read = (seqNum: number, wanted: string, found = wanted): StrongRead => ({
  log: "l",
  seqNum,
  wanted,
  found,
  endpoint: "west",
});

/** Two records of one appender, as it should be. */
function history(changes: Partial<History> & { readonly records?: readonly FinalRecord[] } = {}): History {
  const { records = [record(0, "a"), record(1, "b")], ...rest } = changes;
  return {
    startMs: 0,
    endMs: 1_000,
    attempts: [attempt("a", 1, acknowledged(0)), attempt("b", 2, acknowledged(1))],
    reads: [read(0, "a"), read(1, "b")],
    readsFailed: 0,
    logs: new Map([["l", records]]),
    ...rest,
  };
}

const broken = (given: History) => [...new Set(checkHistory(given).map(({ promise }) => promise))];

test("what is as it should be breaks no promise; an unknown outcome may be there or not", () => {
  expect(broken(history())).toEqual([]);
  const doubt = attempt("c", 3, { kind: "unknown", code: "unknown_outcome" });
  const attempts = [...history().attempts, doubt];
  expect(broken(history({ attempts }))).toEqual([]);
  const records = [record(0, "a"), record(1, "b"), record(2, "c")];
  expect(broken(history({ attempts, records }))).toEqual([]);
});

test("a record that its producer sends again is one, however its attempts were answered", () => {
  const again = (outcome: Outcome, at: number) => attempt("b", at, outcome, { turn: 2 });
  const attempts = [
    attempt("a", 1, acknowledged(0)),
    again({ kind: "refused", code: "not_ready" }, 2),
    again({ kind: "unknown", code: "no_answer" }, 3),
    attempt("c", 4, acknowledged(2), { appender: 2 }),
    again(acknowledged(1), 5), // a duplicate: its place is that of the attempt in doubt
    again({ kind: "refused", code: "not_ready" }, 6),
  ];
  const records = [record(0, "a"), record(1, "b"), record(2, "c")];
  expect(broken(history({ attempts, records }))).toEqual([]);
});

test.each<[string, History, string[]]>([
  ["CH1: a gap", history({ records: [record(0, "a"), record(1, "b"), record(3, "c")] }), ["CH1", "CH3"]],
  ["CH1: falling time", history({ records: [record(0, "a", { timestampMs: 2 }), record(1, "b")] }), ["CH1"]],
  ["CH2: an acknowledged record is lost", history({ records: [record(0, "a")] }), ["CH2"]],
  [
    "CH2: another position",
    history({ records: [record(0, "a"), record(1, "b", { dlsn: "0002" })] }),
    ["CH2"],
  ],
  ["CH3: twice", history({ records: [record(0, "a"), record(1, "b"), record(2, "a")] }), ["CH3"]],
  ["CH3: nobody's", history({ records: [record(0, "a"), record(1, "b"), record(2, "x")] }), ["CH3"]],
  [
    "CH3: refused without effect, and there",
    history({
      attempts: [...history().attempts, attempt("c", 3, { kind: "refused", code: "not_ready" })],
      records: [record(0, "a"), record(1, "b"), record(2, "c")],
    }),
    ["CH3"],
  ],
  [
    "CH4: an appender's own order",
    history({
      attempts: [
        attempt("b", 1, acknowledged(1), { endMs: 900 }),
        attempt("a", 2, acknowledged(0), { endMs: 900 }),
      ],
    }),
    ["CH4"],
  ],
  [
    "CH5: the order of time, across appenders",
    history({
      attempts: [
        attempt("b", 1, acknowledged(1), { appender: 1 }),
        attempt("a", 2, acknowledged(0), { appender: 2 }),
      ],
    }),
    ["CH5"],
  ],
  ["CH6: a strong read misses the record", history({ reads: [read(1, "b", "nothing")] }), ["CH6"]],
  ["CH6: a strong read finds another", history({ reads: [read(1, "b", "a")] }), ["CH6"]],
])("%s", (_, given, promises) => {
  expect(broken(given)).toEqual(promises);
});

const bounds = (unknownShareMax: number, readsFailedShareMax = 0) => ({
  unknownShareMax,
  readsFailedShareMax,
});

test("a report fails for a violation, for too many unknown outcomes, and if nothing was acknowledged", () => {
  expect(reportOf(history(), bounds(0)).passed).toBe(true);
  expect(reportOf(history({ records: [record(0, "a")] }), bounds(1, 1)).passed).toBe(false);
  expect(reportOf(history({ attempts: [], records: [] }), bounds(1, 1)).passed).toBe(false);
  const refused = [attempt("a", 1, { kind: "refused", code: "not_ready" })];
  expect(reportOf(history({ attempts: refused, records: [] }), bounds(1, 1)).passed).toBe(false);
  const doubt = attempt("c", 3, { kind: "unknown", code: "no_answer" });
  const attempts = [...history().attempts, doubt];
  expect(reportOf(history({ attempts }), bounds(0.3)).passed).toBe(false);
  expect(reportOf(history({ attempts }), bounds(0.34))).toMatchObject({
    passed: true,
    unknown: 1,
    codes: { no_answer: 1 },
  });
});

test("a report fails for too many strong reads without an answer, and if none had one", () => {
  const lacking = history({ readsFailed: 1 });
  expect(reportOf(lacking, bounds(0, 0.3)).passed).toBe(false);
  expect(reportOf(lacking, bounds(0, 0.34))).toMatchObject({
    passed: true,
    strongReads: 2,
    strongReadsFailed: 1,
    strongReadsFailedShare: 1 / 3,
  });
  expect(reportOf(history({ reads: [], readsFailed: 10_000 }), bounds(1, 1)).passed).toBe(false);
  expect(reportOf(history({ reads: [] }), bounds(1, 1)).passed).toBe(false);
});

test("the longest gap counts from the start and to the end, over all logs and of each", () => {
  const attempts = [
    attempt("a", 1, acknowledged(0), { endMs: 400 }),
    attempt("b", 2, acknowledged(0), { endMs: 900, log: "m" }),
  ];
  const logs = new Map([
    ["l", [record(0, "a")]],
    ["m", [record(0, "b")]],
  ]);
  expect(reportOf(history({ attempts, logs, reads: [read(0, "a")] }), bounds(0))).toMatchObject({
    passed: true,
    longestGapMs: 500,
    longestGapAtMs: 400,
    longestGapOfOneLogMs: 900,
  });
});
