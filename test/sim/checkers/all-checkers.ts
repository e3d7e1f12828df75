/** Every checker, in the order in which they look. */
import { acknowledgedInOrder } from "./acknowledged-in-order.ts";
import { acknowledgedKept } from "./acknowledged-kept.ts";
import { acknowledgedOnAckSet } from "./acknowledged-on-ack-set.ts";
import { acknowledgedWithinEnd } from "./acknowledged-within-end.ts";
import { bookieAnswersTrue } from "./bookie-answers-true.ts";
import type { Checker } from "./checker.ts";
import { closedSealed } from "./closed-sealed.ts";
import { closedWhole } from "./closed-whole.ts";
import { ensembleChanges } from "./ensemble-changes.ts";
import { functionCheckers } from "./function-checkers.ts";
import { ledgerTransitions } from "./ledger-transitions.ts";
import { linearizableLogs } from "./linearizable-logs.ts";
import { noAlarms } from "./no-alarms.ts";
import { noLateAdds } from "./no-late-adds.ts";
import { oneClosedEnd } from "./one-closed-end.ts";
import { placements } from "./placements.ts";
import { refusalsTrue } from "./refusals-true.ts";
import { sealsKept } from "./seals-kept.ts";
import { segmentsChain } from "./segments-chain.ts";
import { strongReads } from "./strong-reads.ts";
import { writeOnce } from "./write-once.ts";

export const checkers: readonly Checker[] = [
  acknowledgedInOrder,
  acknowledgedWithinEnd,
  oneClosedEnd,
  ledgerTransitions,
  closedWhole,
  closedSealed,
  ensembleChanges,
  placements,
  noLateAdds,
  bookieAnswersTrue,
  writeOnce,
  sealsKept,
  strongReads,
  acknowledgedKept,
  segmentsChain,
  noAlarms,
  linearizableLogs,
  acknowledgedOnAckSet,
  refusalsTrue,
  ...functionCheckers,
];
