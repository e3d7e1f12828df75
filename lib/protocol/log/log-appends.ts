/** What the `append` function of a region does: `AppendOperations` on warm writers. */
import { unreachable } from "../assert.ts";
import type { Deadline } from "../deadline.ts";
import { FencelineError } from "../errors.ts";
import type { LedgerId, LogIncarnation, LogName, Region, SeqNum } from "../ids.ts";
import type { LogConfig } from "../items.ts";
import { recoverLedger } from "../ledger/recover-ledger.ts";
import type { LedgerMetadata } from "../ledger-metadata.ts";
import { limits } from "../limits.ts";
import { type AskAdmission, admitLog } from "../placement/admission.ts";
import { checkRegion } from "../placement/registry.ts";
import { withTimeout } from "../waiting.ts";
import { appendDeadline } from "./appending/pending-appends.ts";
import { type ServiceEnd, serveLog } from "./appending/serve-log.ts";
import { createLog, describe, preferRegion } from "./catalogue/create-log.ts";
import { type Ask, askInTime, LogNames } from "./catalogue/log-names.ts";
import { ownershipOf } from "./chain/segments.ts";
import { checkLeases, leasePorts } from "./lease/lease-steps.ts";
import type { AppendAnswer, LogPorts, OwnerAnswer, OwnerRequest } from "./log-ports.ts";
import type { LogRef } from "./log-ref.ts";
import { notOwnedHere, notOwner } from "./opening/not-the-writer.ts";
import type {
  AppendAck,
  AppendOperations,
  AppendRequest,
  DeletionAnswer,
  LogCreation,
  LogDescription,
  Ownership,
} from "./operations.ts";
import { AppendRouter } from "./ownership/append-router.ts";
import { takeOver, transferDeadline } from "./ownership/transfer-owner.ts";
import { KnownLedgers } from "./reading/known-ledgers.ts";
import type { ReaderPorts } from "./reading/log-reader.ts";
import { deleteLog } from "./upkeep/delete-log.ts";
import { sealLog } from "./upkeep/seal-log.ts";
import { settleLog } from "./upkeep/settle-log.ts";
import { trimLog } from "./upkeep/trim-log.ts";

export class LogAppends implements AppendOperations {
  readonly #names: LogNames;
  /** How a trim looks for the tail; each trim settles with a settler of its own. */
  readonly #reader: ReaderPorts;
  readonly #router: AppendRouter;

  /** `askAdmission`: the shipped rule, unless a test needs quorum sizes that it refuses. */
  constructor(
    private readonly ports: LogPorts,
    private readonly askAdmission: AskAdmission = admitLog,
  ) {
    this.#names = new LogNames(ports.metadata);
    this.#router = new AppendRouter(ports);
    this.#reader = { ...ports, known: new KnownLedgers(ports) };
  }

  createLog(name: LogName, config: LogConfig, preferred?: Region): Promise<LogCreation> {
    return this.#begin(async () => {
      if (preferred !== undefined) checkRegion(this.ports.topology, preferred);
      const ask = () => this.askAdmission(config.replication, this.ports.topology);
      return await createLog(this.ports, name, config, ask, preferred);
    });
  }

  preferRegion(name: LogName, preferred: Region | undefined): Promise<LogDescription> {
    const ask = this.#askInTime(`the preferred region of log ${name}`);
    const prefer = async (log: LogRef) => describe(await preferRegion(this.ports, log, preferred));
    return this.#begin(async () => {
      if (preferred !== undefined) checkRegion(this.ports.topology, preferred);
      return await this.#names.with(name, prefer, ask);
    });
  }

  /** Producers have their place behind the writer's checks. */
  append(request: AppendRequest): Promise<AppendAck> {
    const deadline = appendDeadline(this.ports.clock, request.log, request.timeoutMs);
    const append = async (log: LogRef) =>
      acknowledgementOf(log, await this.#router.append(log, request, deadline));
    return this.#begin(() => this.#names.with(request.log, append, (lookUp) => deadline.ask(lookUp)));
  }

  transferOwner(name: LogName, to: Region): Promise<Ownership> {
    const ask = this.#askInTime(`a transfer of log ${name}`);
    const transfer = (log: LogRef) => this.#router.transfer(log, to);
    return this.#begin(() => this.#names.with(name, transfer, ask));
  }

  /** What another region's function asks of this one; refused or served here, never passed on. */
  async serve(request: OwnerRequest): Promise<OwnerAnswer> {
    const deadline = transferDeadline(this.ports.clock, request.log);
    const ask = this.#askInTime(`${request.kind} of log ${request.log}`);
    try {
      const serve = (log: LogRef) => this.#serve(log, request, deadline, ask);
      return await this.#begin(() => this.#names.with(request.log, serve, ask));
    } catch (error) {
      if (error instanceof FencelineError) return { kind: "refused", error };
      throw error;
    }
  }

  /**
   * Serves what other processes of this region post to the log, without a caller of its own: until nothing
   * came for `idleMs`, or `lifeMs` are over, or another process serves it.
   */
  serveInbox(
    name: LogName,
    times: { readonly lifeMs: number; readonly idleMs: number },
  ): Promise<ServiceEnd> {
    const serve = (log: LogRef) => serveLog(this.ports, this.#router.writerOf(log), times);
    return this.#begin(() => this.#names.with(name, serve, this.#askInTime(`serving log ${name}`)));
  }

  settle(name: LogName): Promise<void> {
    return this.#withLog("settling", name, (log) => this.#settle(log));
  }

  trim(name: LogName, to: SeqNum): Promise<SeqNum> {
    return this.#withLog("trimming", name, (log) => {
      const settle = () => this.#settle(log);
      return trimLog({ ...this.#reader, settler: { settle } }, log, to);
    });
  }

  seal(name: LogName): Promise<SeqNum> {
    return this.#withLog("sealing", name, (log) => sealLog(this.ports, log));
  }

  deleteLog(name: LogName, only?: LogIncarnation): Promise<DeletionAnswer> {
    return this.#inTime(`deleting log ${name}`, (ask) => deleteLog(this.ports, name, ask, only));
  }

  /** Whether this region can own logs: its lease table answers. */
  async canOwn(log: LogIncarnation): Promise<boolean> {
    const { leases } = this.ports;
    if (leases === undefined) return true;
    return await checkLeases(leasePorts(this.ports, leases), log).then(
      () => true,
      () => false,
    );
  }

  /**
   * Releases every lease: for a process that is about to be idle, or to end. Resolves when what was sent is
   * answered, the leases are released, and the region's other processes can know what owners answered.
   */
  release(): Promise<void> {
    return this.#router.release();
  }

  /** The same for logs that nobody appended to in so long a time: for a process that goes on. */
  releaseIdle(idleMs: number): Promise<void> {
    return this.#router.releaseIdle(idleMs);
  }

  async recoverLedger(id: LedgerId): Promise<LedgerMetadata> {
    const ledger = await this.#begin(() => recoverLedger(this.ports, id));
    if (ledger !== undefined) return ledger;
    throw new FencelineError("ledger_not_found", {
      message: `there is no ledger ${id}; take an id from the log's segments`,
    });
  }

  async #serve(log: LogRef, request: OwnerRequest, deadline: Deadline, ask: Ask): Promise<OwnerAnswer> {
    const { region } = this.ports;
    const { owner, epoch } = await ask(() => ownershipOf(this.ports, log));
    if (request.kind === "take-over") {
      if (owner === region && epoch !== undefined) return { kind: "done", ownership: { owner, epoch } };
      if (owner !== undefined && (request.epoch ?? epoch) !== epoch) throw notOwnedHere(log.name, owner);
      await this.#router.findWriter(log)?.release();
      const permit = request.from === undefined ? undefined : { from: request.from, deadline };
      return { kind: "done", ownership: await takeOver(this.ports, log, permit) };
    }
    if (owner !== region) throw owner === undefined ? notOwner(log.name) : notOwnedHere(log.name, owner);
    if (request.kind === "settle") {
      await settleLog(this.ports, log, this.#router.findWriter(log));
      return { kind: "done" };
    }
    return { kind: "done", ownership: await this.#router.handOver(log, request.to, deadline) };
  }

  /** Rule 14: through the owner; by takeover if it does not answer, or cannot. */
  async #settle(log: LogRef): Promise<void> {
    if (await this.#router.isSettledByOwner(log)) return;
    await settleLog(this.ports, log, this.#router.findWriter(log));
  }

  #withLog<T>(doing: string, name: LogName, operation: (log: LogRef) => Promise<T>): Promise<T> {
    return this.#inTime(`${doing} log ${name}`, (ask) => this.#names.with(name, operation, ask));
  }

  /** What takes longer goes on, and may yet come to pass, for the log that was found in time and no other. */
  #inTime<T>(what: string, operation: (ask: Ask) => Promise<T>): Promise<T> {
    const ask = this.#askInTime(what);
    return withTimeout(this.ports.clock, limits.appendDeadlineMs, what, () =>
      this.#begin(() => operation(ask)),
    );
  }

  #askInTime(what: string): Ask {
    return askInTime(this.ports.clock, what, limits.appendDeadlineMs);
  }

  /**
   * Every operation passes here: it uses a copy of the registry that is current, or as current as can be had.
   * So what operators said while the process was frozen holds for its first request.
   */
  #begin<T>(operation: () => Promise<T>): Promise<T> {
    const current = this.ports.topology.whenCurrent?.();
    return current === undefined ? operation() : current.then(operation);
  }
}

/** The edge: what a caller of the log gets for an answer that is no acknowledgement is an error. */
function acknowledgementOf({ name }: LogRef, answer: AppendAnswer): AppendAck {
  switch (answer.kind) {
    case "acknowledged":
      return answer.ack;
    case "not-owner":
      throw notOwnedHere(name, answer.owner);
    case "cannot-own":
    case "failed":
      throw answer.error;
    default:
      return unreachable(answer);
  }
}
