/** Wrong ends of logs, audits and collections: rules 25, 28, 29, 31 to 33. */
import type { Mutant } from "./mutant.ts";

const START = "lib/protocol/log/opening/start-segment.ts";
const OPEN = "lib/protocol/log/opening/open-segment.ts";
const AUDIT = "lib/protocol/log/upkeep/audit-segments.ts";
const SEAL = "lib/protocol/log/upkeep/seal-log.ts";
const READER = "lib/protocol/log/reading/log-reader.ts";
const DELETE = "lib/protocol/log/upkeep/delete-log.ts";
const COLLECT = "lib/protocol/log/upkeep/collect-unnamed.ts";

const LIVES = ["lives"];

export const lifeMutants: readonly Mutant[] = [
  {
    name: "no-check-after-an-election",
    breaks: "T01, T06, rule 25",
    patches: [
      {
        file: START,
        from: "  return (await election(ports, log, place, item)) ?? (await checkPlace(ports, log, place.first));",
        to: "  return await election(ports, log, place, item);",
      },
    ],
    profiles: LIVES,
  },
  {
    name: "auditor-removes-the-last-item",
    breaks: "T02, rule 31",
    patches: [
      {
        file: AUDIT,
        from: "  const trimmed = below.slice(0, isNeeded ? -2 : -1);",
        to: "  const trimmed = isNeeded ? below.slice() : below;",
      },
    ],
    profiles: LIVES,
  },
  {
    name: "seal-as-a-flag",
    breaks: "T05, rule 29",
    patches: [
      {
        file: SEAL,
        from: '  const end: EndItem = { kind: "end", number: place.number };\n',
        to: `  const flag = (current: never) => {
    const { item } = current as { item: object };
    return { kind: "write", item: { ...item, sealed: true } } as never;
  };
`,
      },
      {
        file: SEAL,
        from: "  const lost = await mayHaveSealed(() => takePlace(ports, log, place, end));",
        to: `  await updateItem(ports, logKey(log.log), flag as never);
  const lost = await checkPlace(ports, log, place.first);`,
      },
      {
        file: SEAL,
        from: `import type { EndItem } from "../items.ts";`,
        to: `import { logKey } from "../items.ts";\nimport { updateItem } from "../update-item.ts";`,
      },
      {
        file: OPEN,
        from: "    if (last !== undefined) {\n      takenFrom ??=",
        to: `    const flagged = (await ports.metadata.get(logKey(log.log), "consistent"))?.item;
    if ((flagged as { sealed?: boolean })?.sealed === true) throw new FencelineError("log_sealed", { message: "sealed" });
    if (last !== undefined) {
      takenFrom ??=`,
      },
    ],
    profiles: LIVES,
  },
  {
    name: "an-end-is-believed-without-a-query",
    breaks: "T07, rule 33c",
    patches: [
      {
        file: READER,
        from: `    const last = await this.#queryLast();
    if (last?.kind !== "end" || last.first > this.#position) return { to: "f" };
    await checkReadable(this.ports.metadata, this.log, last.first);
    return endOfLog(last.first);`,
        to: `    const found = await lastAtOrBelow(this.ports.metadata, this.log.log, this.#position, this.#queries);
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
        file: DELETE,
        from: `  const segments = chain.filter((one) => one.kind === "segment"); // X2`,
        to: "  const segments = chain;",
      },
    ],
    profiles: LIVES,
  },
  {
    name: "deletion-without-an-end",
    breaks: "T08, rule 29: END first",
    patches: [
      {
        file: DELETE,
        from: "    await sealLog(ports, log);\n",
        to: "    if (log.trimPoint < 0) await sealLog(ports, log);\n",
      },
    ],
    profiles: LIVES,
  },
  {
    name: "collector-looks-before-it-closes-only",
    breaks: "T09, rule 32",
    patches: [
      {
        file: COLLECT,
        from: `  if (closed.lastEntry >= 0 && (await isNamed(ports.metadata, id, item.origin))) return "named"; // Z3\n`,
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
        file: COLLECT,
        from: `  const closed = await recoverLedger(ports, id); // Z2
  if (closed === undefined) return "missing";
  if (closed.lastEntry >= 0 && (await isNamed(ports.metadata, id, item.origin))) return "named"; // Z3
  await markDeleted(ports, id);`,
        to: `  const closed = { lastEntry: -1 as never };
  await updateItem(ports, ledgerKey(id), (current) => {
    const { item: now } = current as never as { item: { state: string } };
    if (now.state === "CLOSED" || now.state === "DELETED") return { kind: "keep" };
    const deleted = { ...now, state: "DELETED", lastEntry: -1, length: 0, deletedAtMs: ports.clock.nowMs() };
    return { kind: "write", item: deleted as never };
  });
  void markDeleted;
  void recoverLedger;`,
      },
      {
        file: COLLECT,
        from: `import type { MetadataStore } from "../ports.ts";`,
        to: `import type { MetadataStore } from "../ports.ts";\nimport { updateItem } from "../update-item.ts";`,
      },
    ],
    profiles: LIVES,
  },
];
