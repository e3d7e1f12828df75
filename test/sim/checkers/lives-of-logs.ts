/**
 * A log is numbered once: no life of it ever gives one seq_num to two records, whatever is trimmed, audited,
 * collected, sealed, deleted and created again meanwhile (T01, T02, T04). What is answered to a seal is the
 * end: nothing stands behind it, then or ever (T05, T06), and readers that get an end get the
 * same (T07). Once a deletion is answered nothing that is appended afterwards goes to that life, and nobody is
 * given a tail that is another life's (T08).
 */
import type { LogIncarnation } from "../../../lib/protocol/ids.ts";
import type { Item } from "../../../lib/protocol/items.ts";
import type { Operation } from "../history.ts";
import type { Observer } from "../observations.ts";
import { type Told, ToldAppends } from "../told-appends.ts";
import type { World } from "../world.ts";
import type { Checker, Report } from "./checker.ts";

/** When a name named this life, in moments of the history. */
interface Life {
  readonly log: LogIncarnation;
  readonly name: string;
  readonly from: number;
  to: number;
}

export const livesOfLogs: Checker = {
  name: "lives-of-logs",
  watch(world, report): Observer {
    const told = new ToldAppends(world);
    const lives: Life[] = [];
    return {
      appended: (...append) => told.appended(...append),
      metadataChanged(change) {
        told.metadataChanged(change);
        const [conflict] = world.shadow.conflicts;
        if (conflict !== undefined) report(conflict);
        noteLife(world, lives, change.before?.item, change.after?.item);
      },
      finished() {
        const standing = told.all.map((one) => ({ ...one, life: told.lifeOf(one) }));
        checkEnds(world, lives, standing, report);
        checkDeletions(world, standing, report);
        checkTails(world, lives, standing, report);
      },
    };
  },
};

/** The life that an item names; none if it is no name's item. */
const lifeNamed = (item: Item | undefined) => (item?.kind === "log-name" ? item : undefined);

function noteLife(world: World, lives: Life[], before: Item | undefined, after: Item | undefined): void {
  const { moment } = world.history;
  const [was, is] = [lifeNamed(before), lifeNamed(after)];
  if (is?.incarnation === was?.incarnation) return;
  for (const life of lives) if (life.log === was?.incarnation && life.to > moment) life.to = moment;
  if (is === undefined) return;
  lives.push({ log: is.incarnation, name: is.name, from: moment, to: Number.POSITIVE_INFINITY });
}

interface Standing extends Told {
  readonly life: LogIncarnation | undefined;
}

/** Ends that seals and reads returned, against what each life held in the end. */
function checkEnds(world: World, lives: readonly Life[], appends: readonly Standing[], report: Report): void {
  for (const operation of world.history.operations) {
    const end = endTold(operation);
    if (end === undefined) continue;
    const { request, startedAt, endedAt, actor } = operation;
    const name = "log" in request ? request.log : "";
    const met = lives.filter((life) => life.name === name && life.from < endedAt && life.to > startedAt);
    const [life] = met;
    if (life === undefined || met.length > 1) continue;
    const length = lengthOf(world, life.log, appends);
    if (length > end) report(`${actor} was told that it ends at ${end}; it has ${length} records`, name);
  }
}

function endTold({ request, answer }: Operation): number | undefined {
  if (request.kind === "keep-log") {
    return request.what === "seal" && answer?.kind === "done" ? answer.at : undefined;
  }
  return answer?.kind === "records" && answer.sealed === true ? answer.tail : undefined;
}

function lengthOf(world: World, life: LogIncarnation, appends: readonly Standing[]): number {
  const closed = Math.max(-1, ...world.shadow.of(life).keys());
  const acknowledged = appends.filter((one) => one.life === life).map(({ ack }) => ack.last.seqNum);
  return Math.max(closed, ...acknowledged) + 1;
}

/** The tail of a life that is there all the time covers what was acknowledged before the question. */
function checkTails(
  world: World,
  lives: readonly Life[],
  appends: readonly Standing[],
  report: Report,
): void {
  const ended = new Map<number, number>();
  for (const { request, endedAt } of world.history.operations) {
    if (request.kind === "append") ended.set(request.contents[0] ?? -1, endedAt);
  }
  for (const { request, answer, startedAt, endedAt, actor } of world.history.operations) {
    if (answer?.kind !== "records" || !answer.upToDate || !("log" in request)) continue;
    const { log } = request;
    const met = lives.filter((life) => life.name === log && life.from < endedAt && life.to > startedAt);
    const [life] = met;
    if (life === undefined) {
      report(`${actor} was told of a tail ${answer.tail} when there was no such log`, log);
    } else if (met.length === 1) {
      for (const { life: its, contents, ack } of appends) {
        const isBefore = (ended.get(contents[0] ?? -1) ?? Number.POSITIVE_INFINITY) < startedAt;
        if (its !== life.log || !isBefore || ack.last.seqNum < answer.tail) continue;
        report(`${actor} was told that the tail is ${answer.tail}; ${ack.last.seqNum} was acknowledged`, log);
      }
    }
  }
}

function checkDeletions(world: World, appends: readonly Standing[], report: Report): void {
  const begun = new Map<number, number>();
  for (const { request, startedAt } of world.history.operations) {
    if (request.kind === "append") begun.set(request.contents[0] ?? -1, startedAt);
  }
  for (const { request, answer, endedAt, actor } of world.history.operations) {
    if (request.kind !== "keep-log" || request.what !== "delete" || answer?.kind !== "done") continue;
    for (const { life, contents, log } of appends) {
      if (life !== request.life || (begun.get(contents[0] ?? -1) ?? 0) < endedAt) continue;
      report(`${contents[0]} was appended to a life that ${actor} had deleted before`, log);
    }
  }
}
