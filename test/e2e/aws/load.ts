/** Appends that are always under way: producers side by side, each one batch after the other, each once. */
import { randomBytes } from "node:crypto";
import type { LogClient } from "../../../lib/client/log-client.ts";
import { LogProducer } from "../../../lib/client/log-producer.ts";

/** An emulator serves one call of a function after the other: more would only wait. */
const PRODUCERS = 2;
const PATIENCE_MS = 240_000;

export class LoadOf {
  /** What was acknowledged, at its place. */
  readonly #bodies = new Map<number, string>();
  readonly #running: readonly Promise<void>[];
  #isOver = false;
  #inFlight = 0;
  #failure: unknown;
  #wake = () => {};

  constructor(
    private readonly client: LogClient,
    private readonly log: string,
  ) {
    this.#running = Array.from({ length: PRODUCERS }, (_, index) =>
      this.#produce(index).catch((error: unknown) => {
        this.#failure ??= error;
        this.#wake();
      }),
    );
  }

  /** Sent, and not answered yet. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Waits until so many more for each producer were acknowledged, and the next are under way. */
  async acknowledged(more: number): Promise<void> {
    const wanted = this.#bodies.size + more * PRODUCERS;
    while (this.#bodies.size < wanted || this.#inFlight === 0) {
      if (this.#failure !== undefined) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Stops, and gives what was acknowledged in its order. Throws if it is not all there from `first` on. */
  async end(first: number): Promise<readonly string[]> {
    this.#isOver = true;
    await Promise.all(this.#running);
    if (this.#failure !== undefined) throw this.#failure;
    return Array.from({ length: this.#bodies.size }, (_, index) => {
      const body = this.#bodies.get(first + index);
      if (body === undefined) throw new Error(`nothing was acknowledged at seq_num ${first + index}`);
      return body;
    });
  }

  async #produce(index: number): Promise<void> {
    const id = `load-${randomBytes(6).toString("hex")}`;
    const { client, log } = this;
    const producer = new LogProducer({ client, log, id, patienceMs: PATIENCE_MS });
    for (let turn = 0; !this.#isOver; turn++) {
      const body = `under way ${index}.${turn}`;
      const appending = producer.append([Buffer.from(body)]);
      this.#inFlight += 1;
      this.#wake();
      const outcome = await appending.finally(() => {
        this.#inFlight -= 1;
      });
      const at = outcome.kind === "appended" ? outcome.ack.start.seq_num : outcome.start;
      const other = this.#bodies.get(at);
      if (other !== undefined) throw new Error(`${body} and ${other} were both acknowledged at ${at}`);
      this.#bodies.set(at, body);
      this.#wake();
    }
  }
}
