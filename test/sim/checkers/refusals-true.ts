/**
 * What is said not to be there is not there: an answer that there is no such log or ledger, that a position was
 * trimmed away, that a log is sealed or a ledger deleted, is true at some moment between question and answer.
 * (33d, 33f; that something else is said wrongly of a log that is there is the business of linearizable-logs.)
 */
import type { LedgerId } from "../../../lib/protocol/ids.ts";
import { logName } from "../../../lib/protocol/ids.ts";
import type { Item } from "../../../lib/protocol/items.ts";
import type { Operation } from "../history.ts";
import { standOf } from "../lives.ts";
import type { MetadataChange } from "../metadata-table.ts";
import type { World } from "../world.ts";
import type { Checker } from "./checker.ts";

/** A stretch of time, in moments of the history. */
interface Stretch {
  readonly from: number;
  to: number;
}

/** When something was not there. At first nothing is. */
class Absences<K> {
  readonly #all = new Map<K, Stretch[]>();

  note(key: K, isThere: boolean, moment: number): void {
    const stretches = this.#all.get(key) ?? [{ from: -1, to: Number.POSITIVE_INFINITY }];
    this.#all.set(key, stretches);
    const last = stretches.at(-1);
    const isAbsent = last?.to === Number.POSITIVE_INFINITY;
    if (isThere && isAbsent) last.to = moment;
    if (!isThere && !isAbsent) stretches.push({ from: moment, to: Number.POSITIVE_INFINITY });
  }

  /** A change at a moment comes right after the start or end that the moment is of. */
  during(key: K, { startedAt, endedAt }: Operation): boolean {
    const stretches = this.#all.get(key);
    return stretches === undefined || stretches.some(({ from, to }) => from < endedAt && to >= startedAt);
  }
}

export const refusalsTrue: Checker = {
  name: "refusals-true",
  watch(world, report) {
    const seen = new Seen(world);
    return {
      metadataChanged: (change) => seen.metadataChanged(change),
      operated(operation) {
        const { answer, actor } = operation;
        if (answer?.kind !== "none" || seen.isTrue(operation, answer.reason)) return;
        const { request } = operation;
        const subject = "log" in request ? request.log : "ledgerId" in request ? request.ledgerId : "";
        report(`${actor} is told of ${JSON.stringify(request)}: ${answer.reason}; it never was so`, subject);
      },
    };
  },
};

class Seen {
  readonly #logs = new Absences<string>();
  readonly #ledgers = new Absences<LedgerId>();
  readonly #undeleted = new Absences<LedgerId>();
  /** The furthest trim point, and the first END, of any life of a name. */
  readonly #trimPoints = new Map<string, number>();
  readonly #ended = new Set<string>();

  constructor(private readonly world: World) {}

  metadataChanged({ key, before, after }: MetadataChange): void {
    const { moment } = this.world.history;
    const item = after?.item ?? before?.item;
    if (item?.kind === "log-name" || item?.kind === "log") {
      this.#logs.note(item.name, standOf(this.world, item.name) !== undefined, moment);
    }
    if (item?.kind === "log") this.#noteTrim(item);
    if (item?.kind === "end") this.#noteEnd(key.partition);
    if (item?.kind !== "ledger") return;
    const { ledgerId } = item;
    this.#ledgers.note(ledgerId, after !== undefined, moment);
    const isDeleted = after?.item.kind !== "ledger" || after.item.state === "DELETED";
    this.#undeleted.note(ledgerId, !isDeleted, moment);
  }

  #noteTrim({ name, trimPoint }: Extract<Item, { kind: "log" }>): void {
    this.#trimPoints.set(name, Math.max(trimPoint, this.#trimPoints.get(name) ?? 0));
  }

  #noteEnd(partition: string): void {
    const log = this.world.table
      .itemsOf("log")
      .find(({ item }) => `segments#${item.incarnation}` === partition);
    if (log !== undefined) this.#ended.add(log.item.name);
  }

  isTrue(operation: Operation, reason: string): boolean {
    const { request } = operation;
    if ("ledgerId" in request) {
      if (isOneOf(reason, ["missing", "no such ledger", "ledger_not_found"]))
        return this.#ledgers.during(request.ledgerId, operation);
      return reason !== "deleted" || this.#undeleted.during(request.ledgerId, operation);
    }
    if (!("log" in request)) return true;
    const log = logName(request.log);
    // The delete of one life may be answered that the name has another.
    const isOfOneLife = request.kind === "keep-log" && request.what === "delete";
    if (isOneOf(reason, ["log_not_found"])) return isOfOneLife || this.#logs.during(log, operation);
    if (isOneOf(reason, ["log_sealed"])) return this.#ended.has(log);
    if (request.kind !== "read-log" || !isOneOf(reason, ["position_trimmed"])) return true;
    return (this.#trimPoints.get(log) ?? 0) > request.from;
  }
}

/** A code of an error, with what was said of it, or a word of its own. */
const isOneOf = (reason: string, words: readonly string[]): boolean =>
  words.some((word) => reason === word || reason.startsWith(`${word}:`));
