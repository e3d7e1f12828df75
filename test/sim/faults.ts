/**
 * Faults as data: what goes wrong, where, how likely, from when to when. A plan holds a list of them;
 * leaving one out changes nothing else, so a failing run can be reduced.
 *
 * Fair: every message may be lost, late, doubled or overtaken; every store call may fail before or after its
 * effect; every process may stop anywhere, for any time, for ever, or run beside its successor. Storage may
 * be damaged at one bookie of a world only, and only where acknowledgements need two copies: with more than
 * that the data is gone, and no protocol brings it back.
 */
import type { Region } from "../../lib/protocol/ids.ts";
import type { SeededRandom } from "./seeded-random.ts";

/**
 * Which traffic: calls to bookies, a bookie's calls to its entry store, calls to the metadata store, to the
 * lease store of one's region, and calls of functions by clients and by one another.
 */
export type Wire = "bookie" | "entry-store" | "metadata" | "lease" | "inbox" | "function";

export type MessageFaultKind =
  | "request-lost"
  | "request-late"
  | "request-duplicated"
  | "request-refused"
  | "link-cut"
  | "region-hanging"
  | "region-refusing"
  | "failed-before"
  | "failed-after"
  | "throttled"
  | "conflict"
  | "stale"
  | "reply-lost"
  | "reply-late"
  | "link-cut-back";

/** One end of an edge: anyone, everything in a region, or one process or bookie by name. */
export type End = "*" | { readonly region: string } | { readonly name: string };

export interface MessageFault {
  readonly kind: MessageFaultKind;
  readonly wire: Wire;
  readonly from: End;
  readonly to: End;
  readonly probability: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** Range of the extra delay of a late one, or of the age of a stale one. */
  readonly delayMs?: readonly [number, number];
}

export type StateFaultKind =
  | "frozen"
  | "crashed"
  | "clock-skewed"
  | "clock-jumped"
  | "copy-rotten"
  | "storage-emptied"
  | "storage-replaced"
  | TopologyChangeKind;

/** What an operator says in the registry; not a fault, but it comes at bad moments, and passes, like one. */
export type TopologyChangeKind =
  | "bookie-added"
  | "bookie-read-only"
  | "bookie-lost"
  | "region-draining"
  | "region-lost";

/** Happens to one process or bookie at `fromMs`; what passes again passes at `toMs`. */
export interface StateFault {
  readonly kind: StateFaultKind;
  /** Name of a process, of a bookie, or of a region. */
  readonly target: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Skew or jump in ms; for rot, the probability per stored copy. */
  readonly amount?: number;
}

/** Strikes the instance that takes up a request, while it works on it; `target` names the function. */
export interface FunctionFault {
  readonly kind: "request-frozen" | "request-crashed";
  readonly target: string;
  /** For each request. */
  readonly probability: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** By then every instance that froze has thawed. */
  readonly thawByMs: number;
}

export type Fault = MessageFault | StateFault | FunctionFault;

export const isMessageFault = (fault: Fault): fault is MessageFault => "wire" in fault;
export const isFunctionFault = (fault: Fault): fault is FunctionFault => "thawByMs" in fault;

export interface Endpoint {
  readonly name: string;
  readonly region: Region | string;
}

/** The metadata store is in no region: one that is lost does not take it along. */
export const METADATA: Endpoint = { name: "metadata", region: "everywhere" };

/** When a message fault strikes: as the request leaves, as it is served, or as the reply leaves. */
export type Stage = "request" | "serve" | "reply";

const stages: Record<MessageFaultKind, Stage> = {
  "request-lost": "request",
  "request-late": "request",
  "request-duplicated": "request",
  "request-refused": "request",
  "link-cut": "request",
  "region-hanging": "request",
  "region-refusing": "request",
  "failed-before": "serve",
  "failed-after": "serve",
  throttled: "serve",
  conflict: "serve",
  stale: "serve",
  "reply-lost": "reply",
  "reply-late": "reply",
  "link-cut-back": "reply",
};

/** A region that is down swallows replies as well. */
const alsoReplies = (kind: MessageFaultKind): boolean =>
  kind === "region-hanging" || kind === "region-refusing";

/** The message faults of one edge, by stage. */
export type EdgeFaults = Readonly<Record<Stage, readonly MessageFault[]>>;

export class Faults {
  /** How often each kind fired; a store's failures carry the store's name. */
  readonly fired = new Map<string, number>();
  readonly #messageFaults: readonly MessageFault[];

  constructor(readonly all: readonly Fault[]) {
    this.#messageFaults = all.filter(isMessageFault);
  }

  edge(wire: Wire, from: Endpoint, to: Endpoint): EdgeFaults {
    const here = this.#messageFaults.filter((fault) => fault.wire === wire && concerns(fault, from, to));
    const at = (stage: Stage) =>
      here.filter((fault) => stages[fault.kind] === stage || (stage === "reply" && alsoReplies(fault.kind)));
    return { request: at("request"), serve: at("serve"), reply: at("reply") };
  }

  /** Whether this fault strikes now; counts it if so. */
  strikes(fault: MessageFault, nowMs: number, random: SeededRandom): boolean {
    if (nowMs < fault.fromMs || nowMs >= fault.toMs) return false;
    if (fault.probability < 1 && !random.chance(fault.probability)) return false;
    this.count(countedAs(fault));
    return true;
  }

  count(kind: string): void {
    this.fired.set(kind, (this.fired.get(kind) ?? 0) + 1);
  }
}

/** The name under which a fault is counted when it strikes. */
export function countedAs(fault: Fault): string {
  if (!isMessageFault(fault)) return fault.kind;
  if (isHomeLost(fault)) return "metadata-home-lost";
  const ownName = fault.wire !== "bookie" && !(fault.wire === "function" && alsoReplies(fault.kind));
  return ownName ? `${fault.wire}-${fault.kind}` : fault.kind;
}

/** The metadata store itself is away, not the region of somebody who asks it. */
function isHomeLost({ wire, to }: MessageFault): boolean {
  return wire === "metadata" && typeof to === "object" && "region" in to && to.region === METADATA.region;
}

/** A fault of a region concerns messages in either direction. */
function concerns(fault: MessageFault, from: Endpoint, to: Endpoint): boolean {
  if (alsoReplies(fault.kind)) return matches(fault.to, from) || matches(fault.to, to);
  return matches(fault.from, from) && matches(fault.to, to);
}

function matches(end: End, endpoint: Endpoint): boolean {
  if (end === "*") return true;
  if ("region" in end) return end.region === endpoint.region;
  return end.name === endpoint.name;
}
