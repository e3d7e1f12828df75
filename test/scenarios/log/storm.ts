/**
 * Bad weather for one log: calls that fail before or after their effect, come late or never, bookies that are
 * gone for seconds; and what writers and readers were promised meanwhile, to be compared with the log as it
 * is in the end.
 */
import { FencelineError, hasCode, unavailable } from "../../../lib/protocol/errors.ts";
import { seqNum } from "../../../lib/protocol/ids.ts";
import { pause } from "../../../lib/protocol/waiting.ts";
import { LOG, type LogClient, type LogWorld, textsOf } from "./log-world.ts";

/** What became of one batch. */
interface Batch {
  readonly writer: string;
  /** Its place among the batches that its writer sent. */
  readonly number: number;
  readonly texts: readonly string[];
  readonly condition?: number | undefined;
  /** The end of what was acknowledged before it was sent. */
  readonly known: number;
  readonly at?: number;
  readonly error?: FencelineError;
}

const ORDINARY_READ_ERRORS = ["insufficient_regions", "unavailable", "not_ready"];

export class Storm {
  readonly batches: Batch[] = [];
  readonly broken: string[] = [];
  readonly seen: string[][] = [];
  isOver = false;
  /** The highest seq_num that anybody asked to trim to. */
  trimmedTo = 0;
  /** Whether batches of one process in flight at once keep their order: not if each travels on its own. */
  isOrdered = true;
  #state: number;

  constructor(
    readonly w: LogWorld,
    seed: number,
  ) {
    this.#state = seed * 7_919;
  }

  draw(bound: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * bound);
  }

  pause(boundMs: number): Promise<void> {
    return pause(this.w.world.clock, this.draw(boundMs));
  }

  /** One call in `one` meets something. */
  brew(one: number): void {
    for (const moment of ["before", "after"] as const) {
      this.w.faults.at({}, moment, Number.POSITIVE_INFINITY, async () => {
        if (this.isOver || this.draw(one) > 0) return;
        const kind = this.draw(10);
        if (kind < 5) throw unavailable(`storm ${moment}`);
        await (kind < 9 ? this.pause(400) : pause(this.w.world.clock, 2_000 + this.draw(30_000)));
      });
    }
  }

  /** Now and then one, two or three bookies are gone: refusing or silent. */
  outages(): void {
    const gone = new Set<string>();
    const names = [...this.w.world.stores.keys()];
    for (const target of names) {
      this.w.faults.at({ port: "bookie", target }, "before", Number.POSITIVE_INFINITY, async () => {
        if (this.isOver || !gone.has(target)) return;
        if (this.draw(2) === 0) throw unavailable(`${target} is gone`);
        await pause(this.w.world.clock, 60_000);
      });
    }
    const comeAndGo = async () => {
      while (!this.isOver) {
        await this.pause(3_000);
        for (let count = 1 + this.draw(3); count > 0; count--) gone.add(names[this.draw(names.length)] ?? "");
        await this.pause(8_000);
        gone.clear();
      }
    };
    void comeAndGo();
  }

  async write(client: LogClient, writer: string, count: number): Promise<void> {
    const flying: Promise<void>[] = [];
    for (let number = 0; number < count; number++) {
      const texts = Array.from({ length: 1 + this.draw(3) }, (_, slot) => `${writer}-${number}-${slot}`);
      const known = this.acknowledged();
      const condition = this.draw(4) === 0 ? known : undefined;
      const sent = { writer, number, texts, condition, known };
      const outcome = client.sendingBatch(texts, condition).then(
        ({ start }) => void this.batches.push({ ...sent, at: start.seqNum }),
        (error) => this.#refused(sent, error),
      );
      flying.push(outcome);
      if (this.draw(3) > 0) await outcome;
      if (this.draw(3) === 0) await this.pause(1_500);
      if (this.draw(12) === 0) await client.appends.settle(LOG).catch(() => undefined);
      if (this.draw(4) === 0) await client.appends.release();
    }
    await Promise.all(flying);
  }

  #refused(sent: Omit<Batch, "at" | "error">, error: unknown): void {
    if (!(error instanceof FencelineError)) return void this.broken.push(`an append: ${stackOf(error)}`);
    this.batches.push({ ...sent, error });
    if (error.code !== "seq_num_mismatch") return;
    const actual = Number(error.details.actual_seq_num);
    if (actual >= sent.known && actual !== sent.condition) return;
    this.broken.push(`${sent.texts} expected ${sent.condition}, was told ${actual}; before: ${sent.known}`);
  }

  /** Strong reads, one after the other: what is acknowledged before is seen. */
  async follow(client: LogClient, rounds: number): Promise<void> {
    const seen: string[] = [];
    this.seen.push(seen);
    for (let round = 0; round < rounds; round++) {
      const acknowledged = this.acknowledged();
      const request = { log: LOG, from: seqNum(seen.length), limit: 1 + this.draw(8) };
      try {
        const answer = await client.reads.read({ ...request, consistency: "strong" });
        seen.push(...textsOf(answer));
        const { tail, upToDate } = this.draw(3) > 0 ? answer : await client.reads.tail(LOG, "strong");
        if (upToDate && tail < acknowledged)
          this.broken.push(`up to date at ${tail}, not at ${acknowledged}`);
      } catch (error) {
        this.#readFailed(error, seen);
      }
      await this.pause(800);
    }
  }

  /** Local reads: true as far as they go. */
  async glance(client: LogClient, rounds: number): Promise<void> {
    const seen: string[] = [];
    this.seen.push(seen);
    for (let round = 0; round < rounds; round++) {
      try {
        const request = { log: LOG, from: seqNum(seen.length), limit: 3, consistency: "local" } as const;
        seen.push(...textsOf(await client.reads.read(request)));
      } catch (error) {
        this.#readFailed(error, seen);
      }
      await this.pause(1_500);
    }
  }

  /** A reader that got "trimmed" goes on at the first record that is left. */
  #readFailed(error: unknown, seen: string[]): void {
    if (hasCode(error, "position_trimmed")) {
      const first = Number(error.details.first_available);
      if (first > this.trimmedTo) this.broken.push(`told that ${first} is the first one left`);
      seen.length = Math.max(seen.length, first);
      return;
    }
    if (error instanceof FencelineError && ORDINARY_READ_ERRORS.includes(error.code)) return;
    this.broken.push(`a read: ${stackOf(error)}`);
  }

  /** The end of the highest batch that is acknowledged by now. */
  acknowledged(): number {
    return Math.max(0, ...this.batches.map(({ at, texts }) => (at === undefined ? 0 : at + texts.length)));
  }

  /** Compares what was promised with the log as it is; records that were trimmed away are holes in it. */
  judge(log: readonly string[]): void {
    for (const seen of this.seen) {
      seen.forEach((text, place) => {
        if (place in log && log[place] !== text)
          this.broken.push(`${text} was read at ${place}, and there is ${log[place]}`);
      });
    }
    for (const batch of this.batches) this.#judgeBatch(log, batch);
    if (!this.isOrdered) return;
    for (const writer of new Set(this.batches.map((batch) => batch.writer))) this.#judgeOrder(writer);
  }

  #judgeBatch(log: readonly string[], { texts, at, error, condition, known }: Batch): void {
    const places = texts.map((text) => log.flatMap((there, place) => (there === text ? [place] : [])));
    const start = places[0]?.[0];
    // Trimmed away, in part or as a whole; or in doubt, and then it may be.
    if (!(0 in log) && (places[0]?.length === 0 || (at !== undefined && !(at in log)))) return;
    const whole = places.every((found, slot) =>
      start === undefined ? found.length === 0 : found.length === 1 && found[0] === start + slot,
    );
    if (!whole) this.broken.push(`${texts} is at ${JSON.stringify(places)}`);
    if (at !== undefined && start !== at)
      this.broken.push(`${texts} was acknowledged at ${at}, and is at ${start}`);
    if (at !== undefined && at < known)
      this.broken.push(`${texts} is at ${at}, sent when ${known} were known`);
    if (at !== undefined && condition !== undefined && at !== condition) {
      this.broken.push(`${texts} was to be at ${condition}, and is at ${at}`);
    }
    if (error?.sideEffects === "none" && start !== undefined) {
      this.broken.push(`${texts} was refused (${error.code}), and is at ${start}`);
    }
  }

  /** Unconditional batches of one writer stand in the order in which it sent them. */
  #judgeOrder(writer: string): void {
    const own = this.batches.filter((batch) => batch.writer === writer && batch.condition === undefined);
    const placed = own.flatMap(({ number, at }) => (at === undefined ? [] : [{ number, at }]));
    const inOrder = [...placed].sort((one, other) => one.number - other.number);
    inOrder.forEach(({ at }, index) => {
      const before = inOrder[index - 1];
      if (before !== undefined && before.at > at)
        this.broken.push(`${writer}: ${before.at} was sent before ${at}`);
    });
  }

  /** How often appends ended how. */
  outcomes(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { error } of this.batches) {
      const outcome = error === undefined ? "acknowledged" : `${error.code}, ${error.sideEffects}`;
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
    return counts;
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
