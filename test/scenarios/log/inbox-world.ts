/** What the stories of a log's inbox have in common: R serves in the east, and P posts to it. */
import { expect } from "vitest";
import { inboxLimits } from "../../../lib/protocol/log/inbox-limits.ts";
import type { InboxStore } from "../../../lib/protocol/log/inbox-store.ts";
import type { PortCall } from "../faults.ts";
import { LOG, type LogClient, LogWorld, type LogWorldFields } from "./log-world.ts";

export interface InboxStory {
  readonly w: LogWorld;
  /** It serves. */
  readonly r: LogClient;
  /** Why it ended. */
  readonly end: Promise<string>;
}

/** R holds the lease, and has listed its ledger. */
export async function serving(fields: LogWorldFields = {}, idleMs = 60_000): Promise<InboxStory> {
  const w = await LogWorld.make({ leases: true, inbox: true, ...fields });
  const r = w.client("R");
  const end = r.appends.serveInbox(LOG, { lifeMs: 10 * 60_000, idleMs });
  await w.world.clock.advance(100);
  expect((await w.leaseTable("east").read(w.log))?.lease.owed).toHaveLength(1);
  return { w, r, end };
}

/** Lets time pass until so many of R's calls, or another's, were made since the beginning. */
export async function until(w: LogWorld, match: Partial<PortCall>, times = 1): Promise<void> {
  for (let step = 0; w.faults.count(match) < times; step++) {
    if (step > 5_000) throw new Error(`${JSON.stringify(match)} was not called ${times} times`);
    await w.world.clock.advance(5);
  }
}

/** R's answers are never put: what it did has to be found in its ledger. */
export function losesAnswers(w: LogWorld, client = "R"): () => void {
  return w.faults.fail({ client, port: "inbox", call: "answer" });
}

/** An inbox through which one client cannot answer the first ticket that it takes; others it can. */
export function losesFirstAnswer(client: string) {
  let first: string | undefined;
  return (table: InboxStore, name: string): InboxStore =>
    name !== client
      ? table
      : {
          ...through(table),
          answer: async (log, answers) => {
            first ??= answers[0]?.ticket.id;
            return await table.answer(
              log,
              answers.filter(({ ticket }) => ticket.id !== first),
            );
          },
        };
}

export function through(table: InboxStore): InboxStore {
  return {
    post: (...given) => table.post(...given),
    requests: (...given) => table.requests(...given),
    answer: (...given) => table.answer(...given),
    readAnswer: (...given) => table.readAnswer(...given),
  };
}

/** How often the text is in the log. */
export async function times(w: LogWorld, text: string): Promise<number> {
  const log = await w.client("T", "west").read(0);
  return log.filter((one) => one === text).length;
}

/** What the item owes now. */
export async function owed(w: LogWorld) {
  return (await w.leaseTable("east").read(w.log))?.lease.owed ?? [];
}

export const WINDOW = inboxLimits.answerWindow;
