/**
 * How a client sends a batch until it knows that it is in the log: as a producer with epoch and seq, or under
 * a key. Each process of a client is a producer of a higher epoch; a batch that is given up begins a new
 * epoch. A batch with a place of its own whose place is taken is not in the log, whatever became of earlier
 * attempts.
 */
import { keySender } from "../../lib/api/append-sender.ts";
import { FencelineError, hasCode } from "../../lib/protocol/errors.ts";
import type { Sender } from "../../lib/protocol/log/records/record.ts";
import { pause } from "../../lib/protocol/waiting.ts";
import type { Answer, Content } from "./history.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

const ATTEMPTS = 5;
const RETRY_MS = 100;
/** More than any process gives up. */
const EPOCHS_OF_A_PROCESS = 10_000;

export class IdempotentSender {
  #epoch: number;
  #seq = 0;

  constructor(
    private readonly process: SimulatedProcess,
    private readonly id: string,
  ) {
    this.#epoch = process.ordinal * EPOCHS_OF_A_PROCESS;
  }

  /** One batch at a time, for a producer. */
  async send(
    how: "producer" | "key",
    contents: readonly Content[],
    match: number | undefined,
    attempt: (number: number, sender: Sender) => Promise<Answer>,
  ): Promise<Answer> {
    const { id } = this;
    const producer = { id, epoch: this.#epoch, seq: this.#seq };
    const sender = how === "key" ? keySender(`${id}-${contents[0]}`) : producer;
    let isInDoubt = false;
    for (let number = 1; ; number++) {
      try {
        const answer = await attempt(number, sender);
        if (answer.kind === "stored") this.#seq += contents.length;
        if (answer.kind !== "mismatch" || !isInDoubt || isTaken(match, answer.actual)) return answer;
        return this.#giveUp(`mismatch at ${answer.actual}: a copy may find its place yet`, true);
      } catch (error) {
        if (!(error instanceof FencelineError)) throw error;
        isInDoubt ||= error.sideEffects === "possible" || hasCode(error, "producer_seq_passed");
        const goesOn = isInDoubt ? error.code !== "producer_seq_passed" : error.retryable;
        if (number < ATTEMPTS && goesOn && !isRefusal(error))
          await pause(this.process.clock, RETRY_MS * number);
        else return this.#giveUp(`${error.code}: ${error.message}`, isInDoubt && !isRuledOut(error));
      }
    }
  }

  #giveUp(reason: string, isInDoubt: boolean): Answer {
    this.#epoch += 1;
    this.#seq = 0;
    return { kind: isInDoubt ? "unknown" : "none", reason };
  }
}

/** No copy of the batch gets its place any more. */
const isTaken = (match: number | undefined, tail: number): boolean => match !== undefined && match < tail;

/** Nothing comes into a sealed log later, so it knows for certain. */
const isRuledOut = (error: FencelineError): boolean =>
  hasCode(error, "log_sealed") && error.details.earlier_attempts === "not_recorded";

const isRefusal = ({ code }: FencelineError): boolean =>
  code.startsWith("producer_") || code === "log_sealed";
