/** What the `append` function of a region does: `AppendOperations` on warm writers. */
import { FencelineError } from "../errors.ts";
import type { LedgerId, LogIncarnation, LogName, SeqNum } from "../ids.ts";
import type { LogConfig } from "../items.ts";
import type { LedgerMetadata } from "../ledger/ledger-metadata.ts";
import { recoverLedger } from "../ledger/recover-ledger.ts";
import { type AskAdmission, admitLog } from "../placement/admit-log.ts";
import { AppendRouter } from "./append-router.ts";
import { createLog, type LogCreation } from "./create-log.ts";
import { deleteLog } from "./delete-log.ts";
import { KnownLedgers } from "./known-ledgers.ts";
import { LogNames } from "./log-names.ts";
import type { LogPorts } from "./log-ports.ts";
import type { ReaderPorts } from "./log-reader.ts";
import { recordsAt } from "./log-reads.ts";
import { LogWriter } from "./log-writer.ts";
import type { AppendAck, AppendOperations, AppendRequest, DeletionAnswer } from "./operations.ts";
import { sealLog } from "./seal-log.ts";
import { settleLog } from "./settle-log.ts";
import { trimLog } from "./trim-log.ts";
import { WarmWriters } from "./warm-writers.ts";
import { checkLeases } from "./writer-lease.ts";

export class LogAppends implements AppendOperations {
  readonly #names: LogNames;
  readonly #writers: WarmWriters;
  /** How a mismatched append looks at what stands at its place; it settles nothing. */
  readonly #reader: ReaderPorts;
  readonly #router: AppendRouter;

  /** `askAdmission`: the shipped rule, unless a test needs quorum sizes that it refuses. */
  constructor(
    private readonly ports: LogPorts,
    private readonly askAdmission: AskAdmission = admitLog,
  ) {
    this.#names = new LogNames(ports.metadata);
    this.#router = new AppendRouter(ports);
    const reader = { ...ports, known: new KnownLedgers(ports) };
    this.#reader = reader;
    this.#writers = new WarmWriters(
      (log) => new LogWriter(ports, log, (...where) => recordsAt(reader, ...where)),
    );
  }

  createLog(name: LogName, config: LogConfig): Promise<LogCreation> {
    this.#refreshTopology();
    const ask = () => this.askAdmission(config.replication, this.ports.topology);
    return createLog(this.ports, name, config, ask);
  }

  /** Producers have their place behind the writer's checks. */
  append(request: AppendRequest): Promise<AppendAck> {
    this.#refreshTopology();
    return this.#names.with(request.log, (log) => this.#router.append(log, request, this.#writers.of(log)));
  }

  settle(name: LogName): Promise<void> {
    this.#refreshTopology();
    return this.#names.with(name, (log) => settleLog(this.ports, log, this.#writers.find(log)));
  }

  trim(name: LogName, to: SeqNum): Promise<SeqNum> {
    return this.#names.with(name, (log) => {
      const settle = () => settleLog(this.ports, log, this.#writers.find(log));
      return trimLog({ ...this.#reader, settler: { settle } }, log, to);
    });
  }

  seal(name: LogName): Promise<SeqNum> {
    return this.#names.with(name, (log) => sealLog(this.ports, log));
  }

  deleteLog(name: LogName, only?: LogIncarnation): Promise<DeletionAnswer> {
    return deleteLog(this.ports, name, only);
  }

  /** Whether this region can own logs: its lease table answers. */
  async canOwn(log: LogIncarnation): Promise<boolean> {
    const { leases, clock, random } = this.ports;
    if (leases === undefined) return true;
    return await checkLeases({ leases: leases.store, clock, random }, log).then(
      () => true,
      () => false,
    );
  }

  /**
   * Lets go of every pen: for a process that is about to be idle, or to end. Resolves when what was sent is
   * answered and the leases are released.
   */
  release(): Promise<void> {
    return this.#writers.release();
  }

  async recoverLedger(id: LedgerId): Promise<LedgerMetadata> {
    this.#refreshTopology();
    const ledger = await recoverLedger(this.ports, id);
    if (ledger !== undefined) return ledger;
    throw new FencelineError("ledger_not_found", {
      message: `there is no ledger ${id}; take an id from the log's segments`,
    });
  }

  /**
   * Asked with each request, a copy that has become old is read anew beside it, and a ledger that is needed
   * hours after the last one is not placed on what was known then.
   */
  #refreshTopology(): void {
    this.ports.topology.bookies();
  }
}
