/** Wrong transfers, returns and audits: what moves a log, when, and what an auditor may touch. */
import type { Mutant } from "./mutant.ts";

const TRANSFERS = ["transfers"];
const AUDITS = ["audits"];

export const upkeepMutants: readonly Mutant[] = [
  {
    name: "a-transfer-is-answered-before-it-is-done",
    breaks: "OT1: what ends a transfer is the last segment",
    patches: [
      {
        in: "OwnerTransfer.transfer",
        from: `await this.#step(log, writer, now, { to, deadline });
continue;`,
        to: `void this.#step(log, writer, now, { to, deadline }).catch(() => {});
return { owner: to, epoch: (now.epoch ?? 0) + 1 } as never;`,
      },
    ],
    profiles: TRANSFERS,
  },
  {
    name: "appends-go-on-during-a-hand-over",
    breaks: "OT2: a busy owner's hand-over ends",
    patches: [{ in: "AppendRouter.#own", from: "writer.isLeaving", to: "log === null" }],
    profiles: TRANSFERS,
  },
  {
    name: "the-lease-goes-before-the-election",
    breaks: "OT4: the leaver keeps its region's lease until the election is over",
    patches: [
      {
        in: "handOver",
        from: `if (left !== undefined) await closeCleanly(ports, left, lease);
return await elect();`,
        to: `if (left !== undefined) await closeCleanly(ports, left, lease);
await lease.release();
return await elect();`,
      },
    ],
    profiles: TRANSFERS,
  },
  {
    name: "a-permit-does-not-grow-old",
    breaks: "APR3: what allowed a takeover before a freeze allows nothing after it",
    patches: [
      {
        in: "otherOwner",
        from: "owner === permit?.from && !permit.deadline.isOver",
        to: "owner === permit?.from",
      },
      {
        in: "AppendQueue.permit",
        from: "batch.permit?.deadline.isOver === false",
        to: "batch.permit !== undefined",
      },
      {
        in: "isStale",
        from: "sent.isOlder(limits.ownerFailureGapMaxMs)",
        to: "sent.isOlder(Number.POSITIVE_INFINITY)",
      },
      {
        in: "boundedOpening",
        from: "deadline.isOver || holdsLease?.() === false",
        to: "holdsLease?.() === false",
      },
    ],
    profiles: ["transfers", "combined"],
  },
  {
    name: "a-draining-region-keeps-its-logs",
    breaks: "APR4: a region that is draining hands its logs over",
    patches: [
      {
        in: "AppendRouter.#own",
        from: "if (!isAccepting(this.ports, this.ports.region) && (await leave())) return undefined;",
        to: "",
      },
    ],
    profiles: TRANSFERS,
  },
  {
    name: "brings-a-log-home-without-its-owner",
    breaks: "AU3: a log comes home through its owner",
    patches: [
      {
        in: "Auditor.#auditLog",
        from: "this.bringHome(log.name, region)",
        to: "takeOver(this.ports, log, { from: owner, deadline: transferDeadline(this.ports.clock, log.name) })",
        uses: ["takeOver", "transferDeadline"],
      },
    ],
    profiles: TRANSFERS,
  },
  {
    name: "brings-a-log-home-at-once",
    breaks: "AU3: only after it stayed with its last owner for a while",
    patches: [
      {
        in: "Auditor.#mayReturn",
        from: "await isOwnedSince(metadata, log, last, clock.nowMs() - auditLimits.preferReturnMs)",
        to: "true",
      },
    ],
    profiles: TRANSFERS,
  },
  {
    name: "takes-home-what-prefers-another-region",
    breaks: "AU3: a log returns to the region that it prefers",
    patches: [
      { in: "Auditor.#mayReturn", from: "preferredRegion !== region", to: "preferredRegion === undefined" },
    ],
    profiles: TRANSFERS,
  },
  {
    name: "an-audit-takes-every-writer-for-gone",
    breaks: "AL2: a lease that is held",
    patches: [
      {
        in: "auditLedger",
        from: "await writerOf(ports, item, item.origin.log)",
        to: `await writerOf(ports, item, item.origin.log).then(() => "gone" as string)`,
      },
    ],
    profiles: AUDITS,
  },
  {
    name: "an-audit-recovers-what-was-left-clean",
    breaks: "AL2: a clean lease is an idle log's",
    patches: [
      {
        in: "writerOf",
        from: `if (clean && tail?.ledgerId === ledgerId) return "alive";`,
        to: "",
      },
    ],
    profiles: AUDITS,
  },
  {
    name: "an-audit-leaves-what-nobody-names",
    breaks: "rule 32: an auditor collects ledgers that no item names",
    patches: [
      {
        in: "auditLedger",
        from: `return (await collectUnnamed(ports, item.ledgerId)) === "collected" ? "collected" : "healthy";`,
        to: `return "healthy";`,
      },
    ],
    profiles: AUDITS,
  },
  {
    name: "an-audit-forgets-a-ledger-once-its-entries-are-swept",
    breaks: "rule 15: fences, seal and metadata go when the seal age is over",
    patches: [
      {
        in: "sweep",
        file: "audit-ledger.ts",
        from: `return "swept";`,
        to: "return await forget(ports, listing);",
      },
    ],
    profiles: AUDITS,
  },
];
