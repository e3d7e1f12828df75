/** How far an append is: the summary, and lines on standard error once it takes longer than a second. */
import type { BatchOutcome } from "../client/batch-outcome.ts";
import { counted, grouped, note, type Streams } from "./output.ts";

const FIRST_LINE_MS = 1_000;
/** Between lines where nobody watches: a log file should not fill up. */
const LINE_MS = 10_000;

export class Progress {
  /** Lines that are in the log. */
  lines = 0;
  /** Where the first line was to go; undefined until that is known. */
  at: number | undefined;
  #present = 0;
  #bytes = 0;
  #batches = 0;
  #start: number | undefined;
  #end: number | undefined;
  #isContiguous = true;
  #durableIn: readonly string[] = [];
  #trouble: string | undefined;
  readonly #beganMs = performance.now();
  #saidMs = Number.NEGATIVE_INFINITY;
  #saidLines = 0;

  constructor(
    private readonly streams: Streams,
    private readonly log: string,
    private readonly patienceMs: number,
  ) {}

  /** Lines on standard error until disposed of. */
  start(): Disposable {
    const ticking = setInterval(() => this.#tick(), FIRST_LINE_MS);
    ticking.unref();
    return { [Symbol.dispose]: () => clearInterval(ticking) };
  }

  begin(at: number): void {
    this.at = at;
  }

  /** The seq_num of the input's first line, if the lines follow one another in the log. */
  get first(): number | undefined {
    return this.#isContiguous ? this.#start : undefined;
  }

  /** Lines that this run put there. */
  get appended(): number {
    return this.lines - this.#present;
  }

  count(batch: readonly Uint8Array[], outcome: BatchOutcome): void {
    const end = outcome.kind === "appended" ? outcome.ack.end : outcome.end;
    const start = end - batch.length;
    if (this.#end !== undefined && this.#end !== start) this.#isContiguous = false;
    this.#start ??= start;
    this.#end = end;
    this.lines += batch.length;
    this.#batches += 1;
    this.#bytes += batch.reduce((sum, line) => sum + line.length, 0);
    if (outcome.kind === "present") this.#present += batch.length;
    else {
      this.#present += batch.length - (outcome.ack.end - outcome.ack.start.seq_num);
      this.#durableIn = outcome.ack.durable_in ?? this.#durableIn;
    }
    this.#trouble = undefined;
  }

  troubled(message: string): void {
    this.#trouble = message;
  }

  summary() {
    return {
      log: this.log,
      records: this.lines,
      present: this.#present,
      bytes: this.#bytes,
      batches: this.#batches,
      start: this.#start ?? null,
      end: this.#end ?? null,
      contiguous: this.#isContiguous,
      durable_in: this.#durableIn,
      seconds: this.#seconds(),
    };
  }

  summaryText(): string {
    if (this.#start === undefined || this.#end === undefined) return `nothing to append to ${this.log}`;
    const spread = this.#isContiguous ? "" : ", with others' records in between";
    const present = this.#present === 0 ? "" : `, ${grouped(this.#present)} of them found there`;
    const durable = this.#durableIn.length === 0 ? "" : `; durable in ${this.#durableIn.join(", ")}`;
    const [are, last] = [this.lines === 1 ? "is" : "are", this.#end - 1];
    const places = this.#start === last ? `seq_num ${last}` : `seq_nums ${this.#start} to ${last}`;
    return (
      `${counted(this.lines, "record")} (${counted(this.#bytes, "byte")}) ${are} in ${this.log}, ` +
      `${places}${spread}${present}${durable}; ${this.#seconds()} s`
    );
  }

  #seconds(): number {
    return Math.round(performance.now() - this.#beganMs) / 1_000;
  }

  #tick(): void {
    const nowMs = performance.now();
    if (this.streams.stderr.isTTY !== true && nowMs - this.#saidMs < LINE_MS) return;
    // Waiting for input is no progress.
    if (this.lines === this.#saidLines && this.#trouble === undefined) return;
    [this.#saidMs, this.#saidLines] = [nowMs, this.lines];
    const rate = Math.round(this.lines / Math.max(0.001, this.#seconds()));
    const first = this.#start ?? this.at;
    const from = first === undefined ? "" : `, line 1 is at seq_num ${first}`;
    const trouble =
      this.#trouble === undefined
        ? ""
        : `; trying again for ${this.patienceMs / 1_000} s at most: ${this.#trouble}`;
    note(
      this.streams,
      `append ${this.log}: ${counted(this.lines, "line")} in ${Math.round(this.#seconds())} s ` +
        `(${grouped(rate)} a second)${from}${trouble}`,
    );
  }
}
