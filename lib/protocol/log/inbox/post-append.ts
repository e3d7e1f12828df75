/**
 * Posting (rule 36): hands a batch to the tenure that serves the log, under a ticket of its own.
 *
 * PO1 Only a tenure that is listed serves; the ticket names the birth, tenure and revision of that very read.
 * PO2 A put without a reply is repeated as it is. From the first try on the ticket may be served, so its
 *     batch goes nowhere else until wait-for-answer.ts says what became of it.
 *
 * It does not wait for the answer, and withdraws nothing.
 */
import type { Clock } from "../../clock.ts";
import { Age } from "../../deadline.ts";
import { FencelineError, sideEffectsOf } from "../../errors.ts";
import { type LogIncarnation, newTicketId } from "../../ids.ts";
import type { Lease } from "../../lease.ts";
import type { VersionedLease } from "../../ports.ts";
import type { Random } from "../../random.ts";
import { pause, withTimeout } from "../../waiting.ts";
import { inboxLimits } from "./inbox-limits.ts";
import type { InboxStore, PostedAppend, Ticket } from "../inbox-store.ts";

interface PostPorts {
  readonly inbox: InboxStore;
  readonly clock: Clock;
  readonly random: Random;
}

/** A ticket on its way, and when it was first sent (39 iii). */
export interface Post {
  readonly ticket: Ticket;
  readonly age: Age;
}

/** Whether the tenure that the item names is listed, so that appends may be posted to it. */
export function isServed({ birth, tenure, owed }: Lease): boolean {
  return birth !== undefined && owed.some((ledger) => ledger.tenure === tenure);
}

/** The ticket of a new post to the tenure that was just read, consistently. PO1 */
export function newPost({ clock, random }: PostPorts, { lease, version }: VersionedLease): Post | undefined {
  const { birth, tenure } = lease;
  if (birth === undefined || !isServed(lease)) return undefined;
  const ticket = { birth, tenure, revision: version.revision, id: newTicketId(random) };
  return { ticket, age: new Age(clock) };
}

/**
 * Puts the request, again and again until there is a reply or `isOver` (PO2). "refused": every try was refused
 * for too much to do, so nothing was posted, nor ever will be. Never throws what the store throws.
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
