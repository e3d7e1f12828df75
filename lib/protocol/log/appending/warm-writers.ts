/**
 * The writers that one process keeps warm, one for each log it appended to. Keyed by incarnation (rule 35),
 * so that a name created again never meets the writer of its former life.
 */
import type { Clock } from "../../clock.ts";
import type { LogIncarnation } from "../../ids.ts";
import { limits } from "../../limits.ts";
import type { LogIdentity } from "../log-identity.ts";
import type { LogWriter } from "./log-writer.ts";

export class WarmWriters {
  readonly #writers = new Map<LogIncarnation, LogWriter>();
  /** When each was asked for last. */
  readonly #usedAtMs = new Map<LogIncarnation, number>();

  constructor(
    private readonly clock: Clock,
    private readonly open: (log: LogIdentity) => LogWriter,
  ) {}

  /** The log's writer; a new one if there is none. */
  of(log: LogIdentity): LogWriter {
    const writer = this.#writers.get(log.log) ?? this.open(log);
    // Least recently used first.
    this.#writers.delete(log.log);
    this.#writers.set(log.log, writer);
    this.#usedAtMs.set(log.log, this.clock.monotonicMs());
    this.#dropIdle();
    return writer;
  }

  /** The log's writer if this process has one. */
  find(log: LogIdentity): LogWriter | undefined {
    return this.#writers.get(log.log);
  }

  /** Every writer lets go of its pen; the writers stay, and acquire it again on use. */
  async release(): Promise<void> {
    await Promise.all([...this.#writers.values()].map((writer) => writer.release()));
  }

  /** The same for writers that nobody asked for in so long a time. */
  async releaseIdle(idleMs: number): Promise<void> {
    const nowMs = this.clock.monotonicMs();
    const idle = [...this.#writers].filter(
      ([log, writer]) => writer.isIdle && nowMs - (this.#usedAtMs.get(log) ?? nowMs) >= idleMs,
    );
    await Promise.all(idle.map(([, writer]) => writer.release()));
  }

  /** A dropped writer lets go of its pen. Without leases its ledger stays open: the next one recovers it. */
  #dropIdle(): void {
    for (const [log, writer] of this.#writers) {
      if (this.#writers.size <= limits.warmWritersMax) return;
      if (!writer.isIdle) continue;
      this.#writers.delete(log);
      this.#usedAtMs.delete(log);
      void writer.release();
    }
  }
}
