/**
 * Every ensemble keeps its promise, judged by trying all ack quorums of all its write sets: under the shipped
 * policy each spans minRegions regions in every new ledger; and whatever the policy, no ensemble change makes
 * a write set worse than it was or moves a member that stays. A process places nothing where its copy of the
 * registry says that no new copies may go.
 */
import type { BookieId, LedgerId } from "../../../lib/protocol/ids.ts";
import type { LedgerMetadata } from "../../../lib/protocol/ledger-metadata.ts";
import type { BookieAddress, Fragment, Replication } from "../../../lib/protocol/replication.ts";
import { isOpen } from "../registries.ts";
import type { SimulatedProcess } from "../simulated-process.ts";
import type { World } from "../world.ts";
import type { Checker } from "./checker.ts";

export const placements: Checker = {
  name: "placements",
  watch(world, report) {
    const isShippedPolicy = world.plan.world.placement === "region-aware";
    const closedTo = (members: readonly BookieId[], process: SimulatedProcess, ledgerId: LedgerId) => {
      const wrong = isShippedPolicy ? placedWhereClosed(world, members, process) : undefined;
      if (wrong !== undefined) report(wrong, ledgerId);
    };
    return {
      emitted(event, process) {
        if (event.event === "ledger-created") closedTo(event.ensemble, process, event.ledgerId);
        if (event.event === "ensemble-changed") closedTo(event.by, process, event.ledgerId);
      },
      metadataChanged({ before, after }) {
        const item = after?.item;
        const old = before?.item;
        if (item?.kind !== "ledger") return;
        const wrong =
          old?.kind === "ledger"
            ? wrongChange(old, item)
            : wrongEnsemble(item.fragments[0]?.ensemble ?? [], item.replication, isShippedPolicy);
        if (wrong !== undefined) report(wrong, item.ledgerId);
      },
    };
  },
};

function placedWhereClosed(
  world: World,
  members: readonly BookieId[],
  process: SimulatedProcess,
): string | undefined {
  const told = world.registries.told(process);
  if (told.length === 0) return undefined;
  const closed = members.find((id) => {
    const address = world.bookies.get(id)?.address;
    return address !== undefined && told.every((states) => !isOpen(address, states));
  });
  return closed === undefined ? undefined : `${process.name} places copies on ${closed}, which takes none`;
}

function wrongEnsemble(
  ensemble: readonly BookieAddress[],
  replication: Replication,
  isShippedPolicy: boolean,
): string | undefined {
  if (ensemble.length !== replication.ensembleSize) return `its ensemble has ${ensemble.length} members`;
  if (new Set(ensemble.map(({ id }) => id)).size !== ensemble.length) return "a bookie is in it twice";
  if (!isShippedPolicy) return undefined;
  const least = spans(ensemble, replication);
  const bad = least.findIndex((regions) => regions < replication.minRegions);
  if (bad < 0) return undefined;
  return `an ack quorum of entry ${bad} can lie in ${least[bad]} regions: ${told(ensemble)}`;
}

/** Each new last fragment against the one before it: a writer's change, or recovery's own ones at the close. */
function wrongChange(old: LedgerMetadata, item: LedgerMetadata): string | undefined {
  const byWriter = item.state === "OPEN";
  let before = old.fragments.at(-1);
  for (const fragment of item.fragments.slice(old.fragments.length - 1)) {
    if (before === undefined) return undefined;
    const wrong = wrongMove(before, fragment, byWriter) ?? wrongStep(before, fragment, item.replication);
    if (wrong !== undefined) return wrong;
    before = fragment;
  }
  return undefined;
}

/**
 * A member that stays in a writer's ensemble keeps its position. Recovery replaces again and again before it
 * writes anything down, and copies whatever is not held to where it then belongs: one that left may be back
 * elsewhere.
 */
function wrongMove(
  { ensemble: before }: Fragment,
  { ensemble: after }: Fragment,
  byWriter: boolean,
): string | undefined {
  if (after.length !== before.length) return `an ensemble of ${before.length} became one of ${after.length}`;
  for (const [position, { id }] of after.entries()) {
    const stood = before.findIndex((member) => member.id === id);
    if (byWriter && stood >= 0 && stood !== position) {
      return `${id} was moved from position ${stood} to ${position}`;
    }
  }
  return undefined;
}

function wrongStep(
  { ensemble: before }: Fragment,
  { ensemble: after }: Fragment,
  replication: Replication,
): string | undefined {
  const [was, is] = [spans(before, replication), spans(after, replication)];
  const worse = is.findIndex((regions, entry) => regions < Math.min(replication.minRegions, was[entry] ?? 0));
  if (worse < 0) return undefined;
  return `an ack quorum of entry ${worse} can lie in ${is[worse]} regions, was ${was[worse]}: ${told(after)}`;
}

const told = (ensemble: readonly BookieAddress[]): string => ensemble.map(({ id }) => id).join(" ");

const known = new Map<string, readonly number[]>();

/** For each position of an entry's first copy, the fewest regions that any Qa of its Qw copies lie in. */
function spans(ensemble: readonly BookieAddress[], replication: Replication): readonly number[] {
  const { writeQuorum, ackQuorum } = replication;
  const regions = ensemble.map(({ place }) => place.region);
  const key = `${writeQuorum} ${ackQuorum} ${regions.join(" ")}`;
  let least = known.get(key);
  if (least === undefined) {
    least = regions.map((_, first) => {
      const copies = Array.from(
        { length: writeQuorum },
        (__, next) => regions[(first + next) % regions.length],
      );
      return Math.min(...quorums(copies, ackQuorum).map((quorum) => new Set(quorum).size));
    });
    known.set(key, least);
  }
  return least;
}

/** Every choice of `many` of the items. */
function quorums<T>(items: readonly T[], many: number): T[][] {
  const [first, ...rest] = items;
  if (many === 0) return [[]];
  if (first === undefined || items.length < many) return [];
  return [...quorums(rest, many - 1).map((others) => [first, ...others]), ...quorums(rest, many)];
}
