/** Wrong inboxes: posts that are answered, decided or believed too early, too late or twice. */
import type { TestedMutant } from "./mutant.ts";

const STORIES = "test/scenarios/log/inbox-stories.test.ts";
const told = (title: string) => ({ file: STORIES, title });

export const inboxMutants: readonly TestedMutant[] = [
  {
    name: "only-the-first-ledger-of-a-tenure-is-listed",
    breaks: "rule 37a: each ledger is listed before a ticket is sent to it (U01)",
    patches: [
      {
        in: "LogWriter.#use",
        from: `this.#serves ? "listing" : "writing"`,
        to: `this.#serves && this.#inbox?.isListed !== true ? "listing" : "writing"`,
      },
      {
        in: "LogInbox.sent",
        from: `assert(served.of.ledgerId === opened.item.ledgerId, "IX1: a ticket is sent to a listed ledger");`,
        to: "void opened;",
      },
    ],
    caughtBy: told("U01 (37a): a ledger that follows is listed as well, so the tenure is decided by it"),
  },
  {
    name: "a-listing-without-a-reply-counts",
    breaks: "rule 37a: the listing is known to have taken effect (U02)",
    patches: [
      {
        in: "WriterLease.list",
        from: `if (renewal.kind !== "kept") return undefined;`,
        to: `if (renewal.kind !== "kept") return { birth: held.lease.birth as LeaseBirth, tenure: held.lease.tenure, ledgerId };`,
      },
    ],
    caughtBy: told("U02 (37a): a listing without a reply is none: nothing is sent to that ledger by post"),
  },
  {
    name: "entries-go-on-behind-an-unanswered-ticket",
    breaks: "rule 37c: W entries behind it at most (U03)",
    patches: [
      {
        in: "ServedTickets.mayAdd",
        from: "entry - sentIn >= inboxLimits.answerWindow",
        to: "entry < sentIn",
      },
    ],
    caughtBy: told(
      "U03 (37c, 40): unanswered in entry 0, with others behind it that are answered: the last W entries hold it",
    ),
  },
  {
    name: "the-window-counts-unanswered-tickets",
    breaks: "rule 37c: entries of whomever count (U04)",
    patches: [
      {
        in: "ServedTickets.mayAdd",
        from: "entry - sentIn >= inboxLimits.answerWindow",
        to: "this.#open.size >= inboxLimits.answerWindow",
      },
    ],
    caughtBy: told(
      "U04 (37c): unanswered in entry 0, with the holder's own behind it: the last W entries hold it",
    ),
  },
  {
    name: "an-old-post-is-ruled-out",
    breaks: "rule 39 iii: the answer may have been removed by age (U05)",
    patches: [
      { in: "waitForAnswer", from: "age.isWithin(inboxLimits.absenceMsMax)", to: "age.isWithin(1e15)" },
    ],
    caughtBy: told("U05 (39, 41): an answer that is gone, to a process that was frozen for so long"),
  },
  {
    name: "a-new-lease-item-owes-nothing",
    breaks: "rule 39: another birth, or no item, is an unknown outcome (U06)",
    patches: [
      {
        in: "judgeTicket",
        from: `if (lease === undefined) return { kind: "unknown", reason: "the lease item is gone" };
if (lease.birth !== ticket.birth) return { kind: "unknown", reason: "the lease item was made anew" };`,
        to: `if (lease === undefined || lease.birth !== ticket.birth) return { kind: "settled" };`,
      },
    ],
    caughtBy: told("U06 (39): a lease item that was lost and made anew"),
  },
  {
    name: "a-deleted-ledger-is-decided",
    breaks: "rules 40, 41: what a ledger held that is gone is unknown (U07)",
    patches: [
      {
        in: "decideOwed",
        from: `if (ledger === undefined || ledger.state === "DELETED") return "gone";`,
        to: `if (ledger === undefined || ledger.state === "DELETED") {
  await dropOwed({ leases: ports.leases.store, clock: ports.clock, random: ports.random }, log.incarnation, owed);
  return "decided";
}`,
      },
    ],
    caughtBy: told("U07 (40, 41): a ledger that is deleted before its tenure is decided"),
  },
  {
    name: "a-taken-request-outlives-its-tenure",
    breaks: "rule 37: what was taken and not sent dies with the tenure (U08)",
    patches: [
      {
        in: "LogInbox.close",
        from: "for (const append of this.writer.queue.waiting()) this.#notServed(append);",
        to: "",
      },
      {
        in: "LogInbox.sent",
        from: "if (batch.ticket === undefined) continue;",
        to: "if (batch.ticket === undefined || this.#served === undefined) continue;",
      },
    ],
    caughtBy: told("U08 (37): what was taken and not sent is not carried into another tenure"),
  },
  {
    name: "a-taken-request-is-posted-on",
    breaks: "rule 37: what was taken and not sent is not carried into another tenure (U08)",
    patches: [{ in: "LogWriter.#open", from: "this.#inbox?.entered();", to: "" }],
    caughtBy: told("U08 (37): nor posted to the tenure that took the lease while a segment was opened"),
  },
  {
    name: "an-answered-request-is-taken-again",
    breaks: "rule 37: each once in the tenure, however often it is seen (U09)",
    patches: [{ in: "ServedTickets.#takes", from: "this.#seen.has(id)", to: "this.#open.has(id)" }],
    caughtBy: told("U09 (37): a request that is put again after its answer is not sent again"),
  },
  {
    name: "a-posted-condition-is-judged-at-an-old-tail",
    breaks: "rule 37: a mismatch holds only if metadata read after the request was found says OPEN (U10)",
    patches: [
      {
        in: "judgeRefusal",
        from: `refusal.kind === "passing" ? await whySuperseded(ports, log, opened) : undefined`,
        to: "undefined as FencelineError | undefined",
      },
    ],
    caughtBy: told("U10 (37, 42): superseded without knowing it, it answers no mismatch"),
  },
  {
    name: "a-batch-in-doubt-goes-elsewhere",
    breaks: "rule 36: while a ticket is in doubt its batch goes nowhere else (U11, U12)",
    patches: [
      {
        in: "waitForAnswer",
        from: `verdict.kind === "settled"`,
        to: `verdict.kind === "settled" || verdict.kind === "owed"`,
      },
      {
        in: "TicketWait.#ask",
        from: `const decided = await decideOwed(this.ports, this.log, verdict.owed).catch(() => "unsaid" as const);`,
        to: `const decided = (await Promise.resolve("unsaid")) as Awaited<ReturnType<typeof decideOwed>>;`,
      },
    ],
    caughtBy: told(
      "U11, U12 (36, 42): a batch whose ticket is in doubt, whoever has the lease or the log by now",
    ),
  },
  {
    name: "the-last-ledger-decides",
    breaks: "rules 40, 42: the ledger that the list names decides (U13)",
    patches: [
      {
        in: "decideOwed",
        from: "const ledger = await recoverLedger(ports, owed.ledgerId);",
        to: `const last = await lastItem(ports.metadata, log.incarnation, "consistent");
const ledger = await recoverLedger(ports, last?.kind === "segment" ? last.item.ledgerId : owed.ledgerId);`,
        uses: ["lastItem"],
      },
      { in: "decideOwed", from: "const last = ledger.lastEntry;", to: "const end = ledger.lastEntry;" },
      {
        in: "decideOwed",
        from: "last - inboxLimits.answerWindow + 1",
        to: "end - inboxLimits.answerWindow + 1",
      },
      { in: "decideOwed", from: "last - first + 1", to: "end - first + 1" },
    ],
    caughtBy: told(
      "U13, U14 (40, 42): decided by the ledger that is listed, in a region that lost the log, and not won back",
    ),
  },
  {
    name: "a-successor-inherits-requests",
    breaks: "rule 37: only requests of its own tenure (U15)",
    patches: [
      {
        in: "ServedTickets.#takes",
        from: "this.isClosed || birth !== this.of.birth || tenure !== this.of.tenure",
        to: "this.isClosed || birth !== this.of.birth || tenure === undefined",
      },
      {
        in: "LogInbox.sent",
        from: "!served.isClosed && served.of.tenure === batch.ticket.tenure",
        to: "!served.isClosed",
      },
      {
        in: "MemoryInboxStore.post",
        from: "requestPartition(log, ticket)",
        to: 'requestPartition(log, { ...ticket, tenure: "any" as never })',
      },
      {
        in: "MemoryInboxStore.requests",
        from: "requestPartition(log, query)",
        to: 'requestPartition(log, { ...query, tenure: "any" as never })',
      },
    ],
    caughtBy: told("U15 (37): a request to a tenure that is over is not inherited"),
  },
  {
    name: "a-release-owes-nothing",
    breaks: "rules 38, 42: off the list only if each ticket is answered (U16, U24)",
    patches: [
      {
        in: "WriterLease.release",
        from: "isAnswered: served.isAnswered",
        to: "isAnswered: served !== undefined",
      },
    ],
    caughtBy: told("U16 (38), U24 (42): released before its answers are put, the tenure stays on the list"),
  },
  {
    name: "an-answer-that-was-not-there-before-is-not-there",
    breaks: "rule 39 ii: the answer is read after the lease (U18)",
    patches: [
      {
        in: "waitForAnswer",
        from: `await waiting.readAnswer("consistent")`,
        to: `undefined as Awaited<ReturnType<typeof waiting.readAnswer>>`,
      },
    ],
    caughtBy: told("U18 (39): the answer is read behind the lease"),
  },
  {
    name: "any-other-tenure-is-settled",
    breaks: "rule 39 i: a tenure that is over may owe (U19)",
    patches: [
      {
        in: "judgeTicket",
        from: `owed === undefined ? { kind: "settled" } : { kind: "owed", owed }`,
        to: `owed === null ? { kind: "unknown", reason: "" } : { kind: "settled" }`,
      },
    ],
    caughtBy: told("U19 (39): a tenure that is over and owes is not settled, nor is an expired one"),
  },
  {
    name: "an-expired-tenure-is-settled",
    breaks: "rule 39: an expired lease proves nothing (U19)",
    patches: [
      {
        in: "TicketWait.#ask",
        from: "if (this.#watch.isFree(found.lease)) await this.#passTenure(found);",
        to: `if (this.#watch.isFree(found.lease)) return { kind: "settled" };`,
      },
    ],
    caughtBy: told("U19 (39): a tenure that is over and owes is not settled, nor is an expired one"),
  },
  {
    name: "decided-without-a-look",
    breaks: "rule 40: the ledger's last W entries are read (U20)",
    patches: [
      {
        in: "decideOwed",
        from: "putAnswers(ports, log.incarnation, found.flat())",
        to: "putAnswers(ports, log.incarnation, found.flat().slice(1_000))",
      },
    ],
    caughtBy: told("U19 (39): a tenure that is over and owes is not settled, nor is an expired one"),
  },
  {
    name: "one-entry-too-few-is-looked-at",
    breaks: "rule 40: W entries, not W - 1 (U20)",
    patches: [
      {
        in: "decideOwed",
        from: "last - inboxLimits.answerWindow + 1",
        to: "last - inboxLimits.answerWindow + 2",
      },
    ],
    caughtBy: told(
      "U03 (37c, 40): unanswered in entry 0, with others behind it that are answered: the last W entries hold it",
    ),
  },
  {
    name: "off-the-list-before-the-answers",
    breaks: "rule 40: the answers are put before the ledger leaves the list (U21)",
    patches: [
      {
        in: "decideOwed",
        from: "await putAnswers(ports, log.incarnation, found.flat());",
        to: `await dropOwed({ leases: ports.leases.store, clock: ports.clock, random: ports.random }, log.incarnation, owed);
await putAnswers(ports, log.incarnation, found.flat());`,
      },
    ],
    caughtBy: told("U20, U21 (40): the ledger leaves the list when its tickets are answered, not before"),
  },
  {
    name: "an-open-ledger-decides",
    breaks: "rule 40: CLOSED, and persisted (U22)",
    patches: [
      {
        in: "decideOwed",
        from: "const ledger = await recoverLedger(ports, owed.ledgerId);",
        to: `const read = await readItem(ports.metadata, ledgerKey(owed.ledgerId), "ledger");
const ledger = { lastEntry: -1 as EntryId, ...read } as ClosedLedger;`,
        uses: ["readItem", "ledgerKey"],
      },
      {
        in: "decideOwed",
        from: `ledger === undefined || ledger.state === "DELETED"`,
        to: "ledger === undefined",
      },
    ],
    caughtBy: told("U22 (40): a ledger that is not closed"),
  },
  {
    name: "a-roll-does-not-wait-for-answers",
    breaks: "rule 37b: a ledger with an unanswered ticket stays on the list (U23)",
    patches: [
      {
        in: "LogWriter.#roll",
        from: `if ((await this.#inbox?.drain()) === false) return { kind: "releasing", segment: full };`,
        to: "",
      },
      {
        in: "ServedTickets.moveTo",
        from: `for (const { entry } of this.#open.values()) assert(entry === undefined, "37b: what was sent is answered");`,
        to: "",
      },
    ],
    caughtBy: told("U23 (37b): a ledger with an unanswered ticket is not replaced on the list"),
  },
  {
    name: "the-floor-passes-what-is-unanswered",
    breaks: "rule 38: each ticket up to the floor is answered (U26)",
    patches: [
      {
        in: "ServedTickets.raiseFloor",
        from: "for (const open of this.#open.values()) floor = Math.min(floor, open.revision - 1);",
        to: "",
      },
    ],
    caughtBy: told("U26 (38): the floor stays below what is unanswered"),
  },
  {
    name: "a-request-below-the-floor-is-taken",
    breaks: "rule 38: none up to the floor from its sending on (U26)",
    patches: [
      {
        in: "ServedTickets.#takes",
        from: "revision <= this.#floor || this.#seen.has(id)",
        to: "this.#seen.has(id)",
      },
      { in: "ServedTickets.take", from: "above: this.#floor", to: "above: 0" },
    ],
    caughtBy: told("U26 (38): what is at or below a floor that was sent is not taken"),
  },
  {
    name: "a-dead-holder-keeps-the-lease",
    breaks: "rule 39: a poster acquires an expired lease (U27)",
    patches: [
      {
        in: "TicketWait.#ask",
        from: "if (this.#watch.isFree(found.lease)) await this.#passTenure(found);",
        to: "if (this.#watch.isFree(found.lease) && this.ticket === undefined) await this.#passTenure(found);",
      },
    ],
    caughtBy: told("U27 (39): who posted takes the lease of a dead holder"),
  },
  {
    name: "a-poster-does-not-decide",
    breaks: "rule 40: any process decides (U28)",
    patches: [
      {
        in: "TicketWait.#ask",
        from: `const decided = await decideOwed(this.ports, this.log, verdict.owed).catch(() => "unsaid" as const);`,
        to: `const decided = (await Promise.resolve("unsaid")) as Awaited<ReturnType<typeof decideOwed>>;`,
      },
    ],
    caughtBy: told("U28 (40): a tenure that is over is decided, though its successor does not"),
  },
];
