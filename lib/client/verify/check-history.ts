/**
 * What a history must keep, each promise by itself. The checks believe no answer but their own reading: what
 * was acknowledged is compared with what is there.
 *
 * CH1 Seq_nums are dense from 0; DLSNs grow; timestamps never fall.
 * CH2 What was acknowledged is in the log, at the position that was answered.
 * CH3 Nothing is there twice, nothing that nobody sent, and nothing of which every answer said "no effect".
 * CH4 Each appender's acknowledged records stand in its order.
 * CH5 An append that began after another was acknowledged stands behind it.
 * CH6 A strong read, begun after an acknowledgement in any region, finds the record.
 */
import type { Attempt, FinalRecord, History } from "./history.ts";

export interface Violation {
  readonly promise: "CH1" | "CH2" | "CH3" | "CH4" | "CH5" | "CH6";
  readonly what: string;
}

export function checkHistory(history: History): readonly Violation[] {
  const found: Violation[] = [];
  for (const [log, records] of history.logs) {
    const attempts = history.attempts.filter((attempt) => attempt.log === log);
    found.push(
      ...positions(log, records),
      ...acknowledged(log, records, attempts),
      ...contents(log, records, attempts),
      ...appendersOrder(log, attempts),
      ...realTimeOrder(log, attempts),
    );
  }
  for (const read of history.reads) {
    if (read.found === read.wanted) continue;
    const what = `${read.log} at ${read.seqNum} in ${read.endpoint}: ${read.found} instead of ${read.wanted}`;
    found.push({ promise: "CH6", what });
  }
  return found;
}

interface Acknowledged extends Attempt {
  readonly outcome: Extract<Attempt["outcome"], { kind: "acknowledged" }>;
}

const isAcknowledged = (attempt: Attempt): attempt is Acknowledged => attempt.outcome.kind === "acknowledged";

function positions(log: string, records: readonly FinalRecord[]): Violation[] {
  const found: Violation[] = [];
  records.forEach((record, index) => {
    const before = records[index - 1];
    if (record.seqNum !== index) found.push(unordered(`${log}: seq_num ${record.seqNum} in place ${index}`));
    if (before === undefined) return;
    if (record.dlsn <= before.dlsn) found.push(unordered(`${log}: ${record.dlsn} behind ${before.dlsn}`));
    if (record.timestampMs < before.timestampMs)
      found.push(unordered(`${log}: time falls at ${record.seqNum}`));
  });
  return found;
}

const unordered = (what: string): Violation => ({ promise: "CH1", what });

function acknowledged(
  log: string,
  records: readonly FinalRecord[],
  attempts: readonly Attempt[],
): Violation[] {
  return attempts.filter(isAcknowledged).flatMap(({ body, outcome }): Violation[] => {
    const there = records[outcome.seqNum];
    if (there?.body === body && there.dlsn === outcome.dlsn) return [];
    const place = there === undefined ? "nothing" : `${there.body} (${there.dlsn})`;
    return [
      { promise: "CH2", what: `${log}: ${body} (${outcome.dlsn}) at ${outcome.seqNum}, there is ${place}` },
    ];
  });
}

function contents(log: string, records: readonly FinalRecord[], attempts: readonly Attempt[]): Violation[] {
  const sent = new Map<string, Attempt>();
  for (const attempt of attempts) {
    if ((sent.get(attempt.body)?.outcome.kind ?? "refused") === "refused") sent.set(attempt.body, attempt);
  }
  const seen = new Set<string>();
  return records.flatMap(({ body, seqNum }): Violation[] => {
    const attempt = sent.get(body);
    const isTwice = seen.has(body);
    seen.add(body);
    if (isTwice) return [{ promise: "CH3", what: `${log}: ${body} is there again at ${seqNum}` }];
    if (attempt === undefined) return [{ promise: "CH3", what: `${log}: ${body} at ${seqNum} is nobody's` }];
    if (attempt.outcome.kind !== "refused") return [];
    const what = `${log}: ${body} at ${seqNum} was refused with ${attempt.outcome.code} and no effect`;
    return [{ promise: "CH3", what }];
  });
}

function appendersOrder(log: string, attempts: readonly Attempt[]): Violation[] {
  const last = new Map<number, { readonly turn: number; readonly seqNum: number }>();
  const inTurn = attempts.filter(isAcknowledged).sort((one, other) => one.turn - other.turn);
  return inTurn.flatMap(({ appender, turn, outcome }): Violation[] => {
    const before = last.get(appender);
    last.set(appender, { turn, seqNum: outcome.seqNum });
    if (before === undefined || before.seqNum < outcome.seqNum) return [];
    const what = `${log}: appender ${appender}, turn ${turn} at ${outcome.seqNum} before turn ${before.turn}`;
    return [{ promise: "CH4", what }];
  });
}

function realTimeOrder(log: string, attempts: readonly Attempt[]): Violation[] {
  const all = attempts.filter(isAcknowledged);
  const ended = [...all].sort((one, other) => one.endMs - other.endMs);
  const first = new Map<string, number>();
  for (const { body, startMs } of attempts) first.set(body, Math.min(first.get(body) ?? startMs, startMs));
  const begun = all
    .map((one) => ({ ...one, startMs: first.get(one.body) ?? one.startMs }))
    .sort((one, other) => one.startMs - other.startMs);
  let highest = -1;
  let next = 0;
  return begun.flatMap(({ startMs, outcome, body }): Violation[] => {
    for (let one = ended[next]; one !== undefined && one.endMs < startMs; one = ended[++next]) {
      highest = Math.max(highest, one.outcome.seqNum);
    }
    if (outcome.seqNum > highest) return [];
    const what = `${log}: ${body} at ${outcome.seqNum} began after ${highest} was acknowledged`;
    return [{ promise: "CH5", what }];
  });
}
