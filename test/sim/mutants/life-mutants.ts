/** Wrong ends of logs, audits and collections: rules 25, 28, 29, 31 to 33. */
import type { Mutant } from "./mutant.ts";

const LIVES = ["lives"];

export const lifeMutants: readonly Mutant[] = [
  {
    name: "no-check-after-an-election",
    breaks: "T01, T06, rule 25",
    patches: [
      {
        in: "takePlace",
        from: "(await election(ports, log, place, item)) ?? (await checkPlace(ports, log, place.first))",
        to: "await election(ports, log, place, item)",
      },
    ],
    profiles: LIVES,
  },
  {
    name: "auditor-removes-the-last-item",
    breaks: "T02, rule 31",
    patches: [
      {
        in: "auditSegments",
        from: "below.slice(0, isNeeded ? -2 : -1)",
        to: "isNeeded ? below.slice() : below",
      },
    ],
    profiles: LIVES,
  },
  {
    name: "seal-as-a-flag",
    breaks: "T05, rule 29",
    patches: [
      {
        in: "sealOnce",
        from: `const end: EndItem = { kind: "end", number: place.number };`,
        to: `const flag = (current: never) => {
  const { item } = current as { item: object };
  return { ...item, sealed: true } as never;
};`,
      },
      {
        in: "sealOnce",
        from: "const lost = await mayHaveSealed(() => takePlace(ports, log, place, end));",
        to: `await updateItem(ports, logKey(log.incarnation), flag as never);
const lost = await checkPlace(ports, log, place.first);`,
        uses: ["updateItem", "logKey"],
      },
      {
        in: "openSegment",
        from: `if (last?.kind === "end") return await sealedOrGone(ports, log, last);`,
        to: `if (last?.kind === "end") return await sealedOrGone(ports, log, last);
const flagged = (await ports.metadata.get(logKey(log.incarnation), "consistent"))?.item;
if ((flagged as { sealed?: boolean })?.sealed === true) return { kind: "sealed", tail: 0 as SeqNum };`,
      },
    ],
    profiles: LIVES,
  },
  {
    name: "an-end-is-believed-without-a-query",
    breaks: "T07, rule 33c",
    patches: [
      {
        in: "LogReader.#endOfLog",
        from: `const last = await this.#queryLast();
if (last?.kind !== "end" || last.first > this.#position) return { to: "f" };
await this.#checkReadable(last.first);
return endOfLog(last.first);`,
        to: `const found = await lastAtOrBelow(this.ports.metadata, this.log.incarnation, this.#position, this.#queries);
return found?.kind === "end" ? endOfLog(found.first) : { to: "f" };`,
      },
    ],
    profiles: LIVES,
  },
  {
    name: "an-end-is-removed",
    breaks: "T08, rule 29: END stays",
    patches: [
      {
        in: "finishDeletion",
        from: `chain.filter((one) => one.kind === "segment")`,
        to: "chain",
      },
    ],
    profiles: LIVES,
  },
  {
    name: "deletion-without-an-end",
    breaks: "T08, rule 29: END first",
    patches: [
      {
        in: "startDeletion",
        from: "await sealLog(ports, log);",
        to: "if (log.trimPoint < 0) await sealLog(ports, log);",
      },
    ],
    profiles: LIVES,
  },
  {
    name: "collector-looks-before-it-closes-only",
    breaks: "T09, rule 32",
    patches: [
      {
        in: "collectUnnamed",
        from: `if (closed.lastEntry >= 0 && (await isNamed(ports.metadata, id, item.origin))) return "named";`,
        to: "",
      },
    ],
    profiles: LIVES,
  },
  {
    name: "collector-deletes-before-it-closes",
    breaks: "T09, rule 32",
    patches: [
      {
        in: "collectUnnamed",
        from: `const closed = await recoverLedger(ports, id);
if (closed === undefined) return "missing";
if (closed.lastEntry >= 0 && (await isNamed(ports.metadata, id, item.origin))) return "named";
await markDeleted(ports, id);`,
        to: `const closed = { lastEntry: -1 as never };
await updateItem(ports, ledgerKey(id), (current) => {
  const { item: now } = current as never as { item: { state: string } };
  if (now.state === "CLOSED" || now.state === "DELETED") return undefined;
  const deleted = { ...now, state: "DELETED", lastEntry: -1, length: 0, deletedAtMs: ports.clock.nowMs() };
  return deleted as never;
});`,
        uses: ["updateItem"],
      },
    ],
    profiles: LIVES,
  },
  {
    name: "a-trim-beyond-the-tail",
    breaks: "rule 30: never beyond a tail that was read strongly",
    patches: [{ in: "trimLog", file: "trim-log.ts", from: "await checkTail(ports, log, to);", to: "" }],
    profiles: LIVES,
  },
];
