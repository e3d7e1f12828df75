/** Wrong transfers, returns and audits: who moves a log, when, and what an auditor may touch. */
import type { Mutant } from "./mutant.ts";

const TRANSFER = "lib/protocol/log/ownership/transfer-owner.ts";
const ROUTER = "lib/protocol/log/ownership/append-router.ts";
const HAND_OVER = "lib/protocol/log/ownership/hand-over.ts";
const ASKING = "lib/protocol/log/ownership/asking.ts";
const OPEN = "lib/protocol/log/opening/open-segment.ts";
const PERMIT = "lib/protocol/log/opening/takeover-permit.ts";
const AUDIT = "lib/protocol/log/upkeep/audit.ts";
const LEDGER = "lib/protocol/log/upkeep/audit-ledger.ts";

const TRANSFERS = ["transfers"];
const AUDITS = ["audits"];

export const upkeepMutants: readonly Mutant[] = [
  {
    name: "a-transfer-is-answered-before-it-is-done",
    breaks: "K1: what ends a transfer is the last segment",
    patches: [
      {
        file: TRANSFER,
        from: "        await this.#step(log, writer, now, to);\n        continue;",
        to: `        void this.#step(log, writer, now, to).catch(() => {});
        return { owner: to, epoch: (now.epoch ?? 0) + 1 } as never;`,
      },
    ],
    profiles: TRANSFERS,
  },
  {
    name: "appends-go-on-during-a-hand-over",
    breaks: "K2: a busy owner's hand-over ends",
    patches: [
      {
        file: ROUTER,
        from: "    if (transfer.isLeaving(log)) {\n",
        to: "    if (log === null) {\n",
      },
    ],
    profiles: TRANSFERS,
  },
  {
    name: "the-pen-goes-before-the-election",
    breaks: "H1: the leaver keeps its region's pen until the election is over",
    patches: [
      {
        file: HAND_OVER,
        from: "    return await elect(); // H1",
        to: "    await tenure.release(undefined);\n    return await elect();",
      },
    ],
    profiles: TRANSFERS,
  },
  {
    name: "a-permit-does-not-grow-old",
    breaks: "F3: what allowed a takeover before a freeze allows nothing after it",
    patches: [
      {
        file: PERMIT,
        from: "!isWithin(this.clock, given.at, limits.appendDeadlineMs)",
        to: "given.at.wallMs < 0",
      },
      // So does an answer to a question of before, and an opening looks at the time by itself.
      {
        file: ASKING,
        from: "return !isWithin(clock, sentAt, limits.ownerFailureGapMaxMs);",
        to: "return sentAt.wallMs < 0;",
      },
      {
        file: OPEN,
        from: "const isLate = () => !isWithin(ports.clock, begun, timeoutMs) || holdsPen",
        to: "const isLate = () => holdsPen",
      },
    ],
    profiles: ["transfers", "combined"],
  },
  {
    name: "a-draining-region-keeps-its-logs",
    breaks: "F4: a region that is draining hands its logs over",
    patches: [
      {
        file: ROUTER,
        from: "    if (!calls.isAccepting(this.ports.region) && (await leave())) return AGAIN;\n",
        to: "",
      },
    ],
    profiles: TRANSFERS,
  },
  {
    name: "brings-a-log-home-without-its-owner",
    breaks: "E3: a log comes home through its owner",
    patches: [
      {
        file: AUDIT,
        from: "      await this.bringHome(log.name, region);",
        to: "      await takeOver(this.ports, log, new TakeoverPermit(this.ports.clock, owner));",
      },
      {
        file: AUDIT,
        from: `import { finishDeletion } from "./delete-log.ts";`,
        to: `import { finishDeletion } from "./delete-log.ts";
import { takeOver } from "./hand-over.ts";
import { TakeoverPermit } from "./takeover-permit.ts";`,
      },
    ],
    profiles: TRANSFERS,
  },
  {
    name: "brings-a-log-home-at-once",
    breaks: "E3: only after it stayed with its last owner for a while",
    patches: [
      {
        file: AUDIT,
        from: "    return await isOwnedSince(metadata, log, last, clock.nowMs() - auditLimits.preferReturnMs);",
        to: "    void [metadata, log, last, clock, isOwnedSince];\n    return true;",
      },
    ],
    profiles: TRANSFERS,
  },
  {
    name: "takes-home-what-prefers-another-region",
    breaks: "E3: a log returns to the region that it prefers",
    patches: [
      {
        file: AUDIT,
        from: "if (preferredRegion !== region || this",
        to: "if (preferredRegion === undefined || this",
      },
    ],
    profiles: TRANSFERS,
  },
  {
    name: "an-audit-takes-every-writer-for-gone",
    breaks: "J2: a lease that is held",
    patches: [
      {
        file: LEDGER,
        from: `await writerOf(ports, item, item.origin.log) : "gone"; // as operators say`,
        to: `await writerOf(ports, item, item.origin.log).then(() => "gone" as string) : "gone";`,
      },
    ],
    profiles: AUDITS,
  },
  {
    name: "an-audit-recovers-what-was-left-clean",
    breaks: "J2: a clean lease is an idle log's",
    patches: [
      {
        file: LEDGER,
        from: `  if (clean && tail?.ledgerId === ledgerId) return "alive";\n`,
        to: "  void [clean, tail, ledgerId];\n",
      },
    ],
    profiles: AUDITS,
  },
  {
    name: "an-audit-leaves-what-nobody-names",
    breaks: "rule 32: an auditor collects ledgers that no item names",
    patches: [
      {
        file: LEDGER,
        from: `    return (await collectUnnamed(ports, item.ledgerId)) === "collected" ? "collected" : "healthy";`,
        to: `    void collectUnnamed;\n    return "healthy";`,
      },
    ],
    profiles: AUDITS,
  },
  {
    name: "an-audit-forgets-a-ledger-once-its-entries-are-swept",
    breaks: "rule 15: fences, seal and metadata go when the seal age is over",
    patches: [
      {
        file: LEDGER,
        from: `    return "swept";\n  }\n  const answer`,
        to: `    return await forget(ports, listing);\n  }\n  const answer`,
      },
    ],
    profiles: AUDITS,
  },
];
