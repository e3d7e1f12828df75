/**
 * Run as a process until it is killed: writes to all four stores, many calls at a time, and prints a line
 * for each that was answered. The lines are what must be there afterwards.
 */
import { LevelEntryStore } from "../../lib/adapters/level/level-entry-store.ts";
import { LevelInboxStore } from "../../lib/adapters/level/level-inbox-store.ts";
import { LevelLeaseStore } from "../../lib/adapters/level/level-lease-store.ts";
import { LevelMetadataStore } from "../../lib/adapters/level/level-metadata-store.ts";
import { entryId, ledgerId, logIncarnation, writeToken } from "../../lib/protocol/ids.ts";
import type { Version } from "../../lib/protocol/items.ts";
import { sampleLease } from "../contracts/lease-store-contract.ts";
import { sampleLog } from "../contracts/sample-items.ts";
import { inboxTicket, sampleRequest } from "../contracts/sample-posts.ts";
import { Scope } from "../contracts/scope.ts";

const [directory = "", round = "0"] = process.argv.slice(2);
const scope = new Scope();
const ledger = ledgerId(1);
const entries = await LevelEntryStore.open(`${directory}/entries`);
const metadata = await LevelMetadataStore.open(`${directory}/metadata`);
const leases = await LevelLeaseStore.open(`${directory}/leases`);
const inbox = await LevelInboxStore.open(`${directory}/inbox`, { nowMs: Date.now });

const say = (what: string, value: number) => process.stdout.write(`${what} ${value}\n`);

/** Entries of this round, each once; every tenth is deleted again. */
async function writeEntries(lane: number): Promise<void> {
  for (let id = Number(round) * 1_000_000 + lane; ; id += 8) {
    const key = { kind: "slot", ledgerId: ledger, entryId: entryId(id) } as const;
    await entries.putIfAbsent(key, { kind: "original", entry: scope.entry(ledger, id) });
    if (id % 10 === 0) {
      await entries.delete(key);
      say("deleted", id);
    } else {
      say("entry", id);
    }
  }
}

/** One item that counts up, going on from what is there. */
async function count(): Promise<void> {
  const key = { partition: "counter", sort: "item" };
  const found = await metadata.get(key, "consistent");
  let version: Version | "absent" = found?.version ?? "absent";
  for (let value = found?.item.kind === "log" ? found.item.trimPoint + 1 : 1; ; value++) {
    const answer = await metadata.write(key, version, sampleLog(value), writeToken(`t${value}`));
    if (answer.kind !== "written") throw new Error("somebody else counts");
    version = answer.version;
    say("counter", value);
  }
}

async function renewLease(): Promise<void> {
  const log = logIncarnation("l0g");
  const found = await leases.read(log);
  let version: Version | "absent" = found?.version ?? "absent";
  for (let value = (found?.lease.expiresAtMs ?? 0) + 1; ; value++) {
    const lease = { ...sampleLease(scope), expiresAtMs: value };
    const answer = await leases.write(log, version, lease, writeToken(`t${value}`));
    if (answer.kind !== "written") throw new Error("somebody else holds it");
    version = answer.version;
    say("lease", value);
  }
}

/** Requests of this round, each once; every other one is answered. */
async function post(): Promise<void> {
  const log = logIncarnation("l0g");
  for (let revision = Number(round) * 1_000_000 + 1; ; revision++) {
    const ticket = inboxTicket(revision);
    await inbox.post(log, sampleRequest(ticket));
    if (revision % 2 === 0) {
      say("posted", revision);
    } else {
      await inbox.answer(log, [{ ticket, answer: { kind: "not-served" } }]);
      say("answered", revision);
    }
  }
}

await Promise.all([count(), renewLease(), post(), ...[0, 1, 2, 3, 4, 5, 6, 7].map(writeEntries)]);
