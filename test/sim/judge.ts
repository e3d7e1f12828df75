/**
 * What must work when nothing goes wrong any more, and the last look at everything. Each demand has a name;
 * one that is not met within the plan's time is a violation of liveness.
 */
import { entryId, type LedgerId } from "../../lib/protocol/ids.ts";
import { ledgerKey } from "../../lib/protocol/items.ts";
import type { LedgerPorts } from "../../lib/protocol/ledger/ledger-ports.ts";
import { LedgerReader } from "../../lib/protocol/ledger/ledger-reader.ts";
import { recoverLedger } from "../../lib/protocol/ledger/recover-ledger.ts";
import type { LedgerMetadata } from "../../lib/protocol/ledger-metadata.ts";
import { pause } from "../../lib/protocol/waiting.ts";
import { readAnswer } from "./actors/ledger-reader-actor.ts";
import { closedAnswer } from "./actors/ledger-recoverer-actor.ts";
import type { Answer, Content, Request } from "./history.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { World } from "./world.ts";

const RETRY_MS = 250;

export class Judge {
  readonly ports: LedgerPorts;
  /** Demands that are not met yet, and what was last heard of each. */
  readonly #open = new Map<string, string>();

  private readonly process: SimulatedProcess;

  constructor(readonly world: World) {
    this.process = world.startProcess("judge", world.plan.world.regions[0] ?? "");
    this.ports = world.ports(this.process);
  }

  /** Every client that runs hears the answers to what it asked. */
  async demandAnswers(): Promise<void> {
    const { scheduler, plan, verdict, history } = this.world;
    const waiting = () =>
      history.operations.filter(
        ({ answer, process }) =>
          answer === undefined && process.state === "running" && !process.name.startsWith("judge"),
      );
    const deadlineMs = scheduler.nowMs + plan.recoverWithinMs;
    while (waiting().length > 0) {
      if (scheduler.nowMs > deadlineMs) {
        const [first] = waiting();
        verdict.report("liveness", `${first?.actor} still waits for ${JSON.stringify(first?.request)}`);
      }
      await pause(this.ports.clock, 1_000);
    }
  }

  /** What is still open, for a run that stopped by itself. */
  stillOpen(): string {
    return [...this.#open].map(([what, heard]) => `${what} (${heard})`).join("; ");
  }

  /** Asks until the answer satisfies; it must do so in the time that the plan allows. */
  async demand(
    what: string,
    request: () => Request,
    ask: (request: Request) => Promise<Answer>,
    enough: (answer: Answer) => boolean,
    process: SimulatedProcess = this.process,
  ): Promise<Answer> {
    const { scheduler, plan, verdict } = this.world;
    this.#open.set(what, "no answer yet");
    const deadline = scheduler.after(plan.recoverWithinMs, () =>
      verdict.report("liveness", `not within ${plan.recoverWithinMs} ms: ${what} (${this.#open.get(what)})`),
    );
    while (true) {
      const asked = request();
      const answer = await this.world.history.record(process, asked, () => ask(asked));
      if (enough(answer)) {
        this.#open.delete(what);
        scheduler.cancel(deadline);
        return answer;
      }
      this.#open.set(what, "reason" in answer ? answer.reason : answer.kind);
      await pause(process.clock, RETRY_MS);
    }
  }
}

/** Every ledger that belongs to no log: a reader reaches its tail, recovery ends, and all of it can be read. */
export async function judgeLedgers(judge: Judge): Promise<void> {
  const ledgers = judge.world.table.itemsOf("ledger").flatMap(({ item }) => (isOfLog(item) ? [] : [item]));
  await Promise.all(ledgers.map((ledger) => judgeLedger(judge, ledger)));
}

async function judgeLedger(judge: Judge, { ledgerId, state }: LedgerMetadata): Promise<void> {
  if (state === "DELETED") return;
  const recovered = await judge.demand(
    `ledger ${ledgerId} is recovered`,
    () => ({ kind: "recover", ledgerId }),
    async () => closedAnswer(await recoverLedger(judge.ports, ledgerId)),
    (answer) => answer.kind === "closed" || (answer.kind === "none" && answer.reason === "no such ledger"),
  );
  if (recovered.kind !== "closed" || isDeleted(judge.world, ledgerId)) return;
  const contents = await readWhole(judge, ledgerId);
  // A collector that thawed may have deleted it meanwhile; what was then read is no whole ledger.
  if (!isDeleted(judge.world, ledgerId)) judge.world.readBack.set(ledgerId, contents);
}

/** Reads a ledger from its first entry to its end. */
async function readWhole(judge: Judge, ledgerId: LedgerId): Promise<readonly Content[]> {
  const reader = new LedgerReader(judge.ports, ledgerId);
  const contents: Content[] = [];
  while (true) {
    const next = entryId(contents.length);
    const answer = await judge.demand(
      `entry ${next} of ledger ${ledgerId} is read`,
      () => ({ kind: "read", ledgerId, entryId: next, strong: true }),
      async () => readAnswer(await reader.read(next, "strong")),
      (one) => one.kind === "entry" || one.kind === "beyond-end" || isDeleted(judge.world, ledgerId),
    );
    if (answer.kind !== "entry") return contents;
    contents.push(answer.content);
  }
}

/** The readers' half of liveness, before anything is recovered: an open ledger's tail can be read. */
export async function judgeTails(judge: Judge): Promise<void> {
  const { world } = judge;
  // Copies that reach the ack quorum in too few regions are neither an ACK set nor its absence.
  const { placement, replication } = world.plan.world;
  if (placement === "anywhere" && replication.minRegions > 1) return;
  const open = world.table
    .itemsOf("ledger")
    .filter(({ item }) => item.state === "OPEN" && !isOfLog(item) && !isTouched(world, item));
  await Promise.all(
    open.map(async ({ item: { ledgerId } }) => {
      const reader = new LedgerReader(judge.ports, ledgerId);
      for (let next = 0; ; next++) {
        const answer = await judge.demand(
          `a reader reaches the tail of ledger ${ledgerId}`,
          () => ({ kind: "read", ledgerId, entryId: entryId(next), strong: true }),
          async () => readAnswer(await reader.read(entryId(next), "strong")),
          (one) => ["entry", "nothing-yet", "beyond-end"].includes(one.kind) || isBeyondOpen(world, ledgerId),
        );
        if (answer.kind !== "entry") return;
      }
    }),
  );
}

/** Ledgers of logs are judged with their logs. */
const isOfLog = (ledger: LedgerMetadata): boolean => ledger.origin !== undefined;

function isDeleted(world: World, ledgerId: LedgerId): boolean {
  const item = world.table.get(ledgerKey(ledgerId))?.item;
  return item?.kind !== "ledger" || item.state === "DELETED";
}

/** Whether somebody began to recover it meanwhile; its tail is then recovery's business. */
function isBeyondOpen(world: World, ledgerId: LedgerId): boolean {
  const item = world.table.get(ledgerKey(ledgerId))?.item;
  return item?.kind !== "ledger" || item.state !== "OPEN" || isTouched(world, item);
}

/** Damaged storage or a Tombstone may leave an open tail undecidable; only recovery can decide then. */
function isTouched(world: World, ledger: LedgerMetadata): boolean {
  return ledger.fragments.some(({ ensemble }) =>
    ensemble.some(({ id }) => {
      const storage = world.bookies.get(id)?.storage;
      if (storage === undefined || storage.damaged) return true;
      return [...storage.slotsOf(ledger.ledgerId).values()].some(({ kind }) => kind !== "original");
    }),
  );
}
