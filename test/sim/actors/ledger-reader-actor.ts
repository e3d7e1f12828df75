/**
 * Reads ledgers of others while they are written and recovered. Its readers keep the metadata they once
 * read, so that some of them are far behind. Several reads of one process share what it knows, as they do where
 * readers are deployed.
 */
import type { LedgerId } from "../../../lib/protocol/ids.ts";
import { entryId } from "../../../lib/protocol/ids.ts";
import { type LedgerRead, LedgerReader } from "../../../lib/protocol/ledger/ledger-reader.ts";
import { contentOf } from "../content.ts";
import type { Answer } from "../history.ts";
import type { LedgerReaderPlan } from "../plan.ts";
import type { Actor } from "./actor.ts";

interface Place {
  reader: LedgerReader;
  next: number;
}

export async function readLedgers(actor: Actor<LedgerReaderPlan>): Promise<void> {
  const { together = 1 } = actor.plan;
  const shared = together > 1 ? new Map<LedgerId, LedgerReader>() : undefined;
  await Promise.all(Array.from({ length: together }, () => readOneByOne(actor, shared)));
}

async function readOneByOne(
  actor: Actor<LedgerReaderPlan>,
  shared: Map<LedgerId, LedgerReader> | undefined,
): Promise<void> {
  const places = new Map<LedgerId, Place>();
  while (actor.takesOne()) {
    await actor.rest();
    const ledgerId = actor.world.ledgers.pick(actor.random);
    if (ledgerId === undefined) continue;
    const place = placeIn(actor, places, ledgerId, shared);
    // Those who share a reader wait at the tail, mostly, or for what will be there after it.
    if (shared !== undefined && actor.random.chance(0.7))
      place.next = place.reader.confirmed + actor.random.integer(1, 3);
    await readOn(actor, place);
  }
}

function placeIn(
  actor: Actor<LedgerReaderPlan>,
  places: Map<LedgerId, Place>,
  ledgerId: LedgerId,
  shared: Map<LedgerId, LedgerReader> | undefined,
): Place {
  const known = places.get(ledgerId);
  if (known !== undefined && actor.random.chance(actor.plan.keeps)) return known;
  const next = known === undefined || actor.random.chance(0.5) ? 0 : known.next;
  const reader = shared?.get(ledgerId) ?? new LedgerReader(actor.ports, ledgerId);
  shared?.set(ledgerId, reader);
  const fresh = { reader, next };
  places.set(ledgerId, fresh);
  return fresh;
}

/** A few entries on from where it stood. */
async function readOn(actor: Actor<LedgerReaderPlan>, place: Place): Promise<void> {
  for (let count = actor.random.integer(1, 6); count > 0; count--) {
    const { reader, next } = place;
    const request = {
      kind: "read",
      ledgerId: reader.ledgerId,
      entryId: entryId(next),
      strong: actor.plan.strong,
    };
    const answer = await actor.world.history.record(actor.process, { ...request, kind: "read" }, async () =>
      readAnswer(await reader.read(entryId(next), actor.plan.strong ? "strong" : "local")),
    );
    if (answer.kind !== "entry") return;
    place.next++;
  }
}

export function readAnswer(read: LedgerRead): Answer {
  switch (read.kind) {
    case "entry":
      return { kind: "entry", content: contentOf(read.entry.payload) };
    case "nothing-yet":
      return { kind: "nothing-yet" };
    case "beyond-end":
      return { kind: "beyond-end", lastEntry: read.lastEntry };
    case "undecided":
      return { kind: "none", reason: read.error.message };
    case "deleted":
    case "missing":
    case "unknown-tail":
      return { kind: "none", reason: read.kind };
  }
}
