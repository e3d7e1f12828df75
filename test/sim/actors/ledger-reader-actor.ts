/**
 * Reads ledgers of others while they are written and recovered. Its readers keep the metadata they once
 * read, so that some of them are far behind.
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
  const places = new Map<LedgerId, Place>();
  while (actor.takesOne()) {
    await actor.rest();
    const ledgerId = actor.world.ledgers.pick(actor.random);
    if (ledgerId === undefined) continue;
    await readOn(actor, placeIn(actor, places, ledgerId));
  }
}

function placeIn(actor: Actor<LedgerReaderPlan>, places: Map<LedgerId, Place>, ledgerId: LedgerId): Place {
  const known = places.get(ledgerId);
  if (known !== undefined && actor.random.chance(actor.plan.keeps)) return known;
  const next = known === undefined || actor.random.chance(0.5) ? 0 : known.next;
  const fresh = { reader: new LedgerReader(actor.ports, ledgerId), next };
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
