/** The checkers of what regions' functions promise beside what every log does. */
import { auditsLeaveAlone } from "./audits-leave-alone.ts";
import type { Checker } from "./checker.ts";
import { failuresCountedSparingly } from "./failures-counted-sparingly.ts";
import { forwardedOnce } from "./forwarded-once.ts";
import { leasesTellTails } from "./leases-tell-tails.ts";
import { livesOfLogs } from "./lives-of-logs.ts";
import { oneOwner } from "./one-owner.ts";
import { positionsTold } from "./positions-told.ts";
import { producersInOrder } from "./producers-in-order.ts";
import { returnsHome } from "./returns-home.ts";
import { takeoversOnEvidence } from "./takeovers-on-evidence.ts";
import { tenuresApart } from "./tenures-apart.ts";
import { transfersTold } from "./transfers-told.ts";
import { warmAppendsAskNothing } from "./warm-appends-ask-nothing.ts";

export const functionCheckers: readonly Checker[] = [
  tenuresApart,
  leasesTellTails,
  oneOwner,
  forwardedOnce,
  takeoversOnEvidence,
  failuresCountedSparingly,
  warmAppendsAskNothing,
  positionsTold,
  livesOfLogs,
  producersInOrder,
  transfersTold,
  returnsHome,
  auditsLeaveAlone,
];
