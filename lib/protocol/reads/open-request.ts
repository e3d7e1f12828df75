/** A request of a read that has not been answered yet, and until when the read will wait for it. */

import { CallAbort } from "../call-abort.ts";
import type { BookieAddress } from "../place.ts";
import type { ReadAttempt } from "./read-attempt.ts";

interface RequestSent {
  readonly bookie: BookieAddress;
  readonly evidence: ReadAttempt;
  /** When it was sent, in monotonic ms. */
  readonly sentMs: number;
  /** After how long it is given up, in ms. */
  readonly timeoutMs: number;
}

export class OpenRequest {
  readonly bookie: BookieAddress;
  readonly evidence: ReadAttempt;
  readonly #patienceMs: number;
  readonly abort = new CallAbort();
  /** Its silence was long enough, and the next replica was asked besides. */
  wasSentOn = false;
  #silentMs: number;
  #timeoutMs: number;

  constructor(fields: RequestSent) {
    this.bookie = fields.bookie;
    this.evidence = fields.evidence;
    this.#patienceMs = fields.timeoutMs;
    this.#silentMs = fields.sentMs + fields.evidence.silenceMs;
    this.#timeoutMs = fields.sentMs + fields.timeoutMs;
  }

  /** When its silence is long enough, in monotonic ms. */
  get silentMs(): number {
    return this.wasSentOn ? Number.POSITIVE_INFINITY : this.#silentMs;
  }

  /** When it is given up, in monotonic ms. */
  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  /** The question could not be sent on: silence has to last once more. */
  waitOn(nowMs: number): void {
    this.#silentMs = nowMs + this.evidence.silenceMs;
  }

  /**
   * The process stood still: the bookie may have answered long ago, so it gets its time again, while the next
   * one is asked besides.
   */
  thaw(nowMs: number): void {
    this.evidence.discredit();
    this.#silentMs = nowMs;
    this.#timeoutMs = nowMs + this.#patienceMs;
  }

  /** Another one answered: nobody waits any more. */
  abandon(): void {
    this.evidence.abandoned();
    this.abort.abort();
  }

  giveUp(): void {
    this.evidence.timedOut();
    this.abort.abort();
  }
}
