/** Writes ledgers one after the other, with several adds under way, and leaves each in one way or another. */
import { createLedger } from "../../../lib/protocol/ledger/create-ledger.ts";
import { LedgerWriter } from "../../../lib/protocol/ledger/ledger-writer.ts";
import { recoverLedger } from "../../../lib/protocol/ledger/recover-ledger.ts";
import { payloadOf } from "../content.ts";
import type { LedgerWriterPlan } from "../plan.ts";
import type { Actor } from "./actor.ts";
import { closedAnswer } from "./ledger-recoverer-actor.ts";

export async function writeLedgers(actor: Actor<LedgerWriterPlan>): Promise<void> {
  while (actor.takesOne()) {
    const writer = await openLedger(actor);
    if (writer === undefined) await actor.rest();
    else {
      await fill(actor, writer);
      await leave(actor, writer);
    }
  }
}

async function openLedger(actor: Actor<LedgerWriterPlan>): Promise<LedgerWriter | undefined> {
  const { world, random, ports } = actor;
  const digest = random.chance(0.5)
    ? ({ type: "crc32" } as const)
    : ({ type: "hmac-sha256", keyHex: "00112233" } as const);
  try {
    const ledger = await createLedger(ports, { replication: world.plan.world.replication, digest });
    world.ledgers.add(ledger.item.ledgerId);
    return new LedgerWriter(ports, ledger);
  } catch (error) {
    world.expected(error);
    return undefined;
  }
}

async function fill(actor: Actor<LedgerWriterPlan>, writer: LedgerWriter): Promise<void> {
  const { plan, random } = actor;
  const underWay = new Set<Promise<void>>();
  const entries = random.integer(0, plan.ledgerEntries);
  for (let entry = 0; entry < entries && writer.stopped === undefined && actor.takesOne(); entry++) {
    const added = add(actor, writer).finally(() => underWay.delete(added));
    underWay.add(added);
    while (underWay.size >= plan.window) await Promise.race(underWay);
    if (random.chance(0.5)) await actor.rest();
  }
  // Sometimes it leaves while adds are outstanding.
  if (random.chance(0.6)) await Promise.all(underWay);
}

async function add(actor: Actor<LedgerWriterPlan>, writer: LedgerWriter): Promise<void> {
  const { ledgerId } = writer.ledger.item;
  const content = actor.world.newContent();
  const payload = payloadOf(content, actor.random.integer(0, 24));
  await actor.world.history.record(actor.process, { kind: "add", ledgerId, content }, async () => {
    const { entryId } = await writer.add(payload);
    return { kind: "stored", at: entryId };
  });
}

async function leave(actor: Actor<LedgerWriterPlan>, writer: LedgerWriter): Promise<void> {
  const { ledgerId } = writer.ledger.item;
  const { history } = actor.world;
  if (actor.random.chance(actor.plan.closes)) {
    await history.record(actor.process, { kind: "close", ledgerId }, async () =>
      closedAnswer(await writer.close()),
    );
  } else if (actor.random.chance(0.4)) {
    await history.record(actor.process, { kind: "recover", ledgerId }, async () =>
      closedAnswer(await recoverLedger(actor.ports, ledgerId)),
    );
  }
}
