/**
 * Posting (rule 36): hands a batch to the tenure that serves the log, under a ticket of its own.
 *
 * PO1 Only a tenure that is listed serves; the ticket names the birth, tenure and revision of that very read.
 * PO2 A put without a reply is repeated as it is. From the first try on the ticket may be served, so its
 *     batch goes nowhere else until wait-for-answer.ts says what became of it.
 *
 * It does not wait for the answer, and withdraws nothing.
 */
import { assert, present } from "../../assert.ts";
import type { Age, Clock } from "../../deadline.ts";
import { FencelineError, sideEffectsOf } from "../../errors.ts";
import { type LogIncarnation, newTicketId } from "../../ids.ts";
import type { VersionedLease } from "../../ports.ts";
import type { Random } from "../../random.ts";
import { pause, withTimeout } from "../../waiting.ts";
import { inboxLimits } from "../inbox-limits.ts";
import type { InboxStore, PostedAppend, Ticket } from "../inbox-store.ts";
import { isServed } from "../lease/lease-steps.ts";

interface PostPorts {
  readonly inbox: InboxStore;
  readonly clock: Clock;
  readonly random: Random;
}

/** A ticket on its way, and the age of the read that it was made of, which is no younger than it (39 iii). */
export interface Post {
  readonly ticket: Ticket;
  readonly age: Age;
}

/** The ticket of a new post to the tenure that serves, by a consistent read that began at `since` (PO1). */
export function newPost({ random }: PostPorts, { lease, version }: VersionedLease, since: Age): Post {
  const { tenure } = lease;
  assert(isServed(lease), "PO1: only a tenure that is listed serves");
  const birth = present(lease.birth, "an item that is served has a birth");
  return { ticket: { birth, tenure, revision: version.revision, id: newTicketId(random) }, age: since };
}

/**
 * Puts the request, again and again until there is a reply or `isOver` (PO2). "refused": every try met too
 * much to do, so nothing was posted, nor ever will be. Never throws what the store throws.
 */
export async function postAppend(
  { inbox, clock }: PostPorts,
  log: LogIncarnation,
  { ticket }: Post,
  append: PostedAppend,
  isOver: () => boolean,
): Promise<
  { readonly kind: "posted" | "over" } | { readonly kind: "refused"; readonly error: FencelineError }
> {
  let mayBeThere = false;
  for (let tries = 1; !isOver(); tries++) {
    try {
      const put = () => inbox.post(log, { ticket, append });
      await withTimeout(clock, inboxLimits.callTimeoutMs, "inbox post", put);
      return { kind: "posted" };
    } catch (error) {
      if (!(error instanceof FencelineError)) throw error;
      mayBeThere ||= error.code !== "over_capacity" || sideEffectsOf(error) !== "none";
      if (!mayBeThere && tries >= inboxLimits.refusedPutsMax) return { kind: "refused", error };
    }
    await pause(clock, inboxLimits.putPauseMs);
  }
  return { kind: "over" };
}
