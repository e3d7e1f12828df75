/** All bookies as one region's functions reach them: a function call, through both regions' switches. */
import { absentBookie } from "../protocol/bookie/stored-bookie.ts";
import type { Clock } from "../protocol/deadline.ts";
import type { BookieId } from "../protocol/ids.ts";
import type { Bookie, Bookies } from "../protocol/ports.ts";
import type { BookieAddress } from "../protocol/replication.ts";
import type { Distances } from "./distances.ts";
import { gatedBookie } from "./gated-ports.ts";
import type { Gate, RegionSwitch } from "./region-switch.ts";
import { roundTrip } from "./round-trip.ts";

export interface LocalBookie {
  readonly address: BookieAddress;
  readonly bookie: Bookie;
  readonly region: RegionSwitch;
  /** Of the bookie alone: it can be lost while its region is there. */
  readonly power: RegionSwitch;
}

interface RegionBookiesFields {
  /** All there are; those that are added later are found here, too. */
  readonly bookies: readonly LocalBookie[];
  /** Where the calling functions run. */
  readonly from: RegionSwitch;
  /** What the calling functions' own calls pass. */
  readonly outgoing: Gate;
  readonly clock: Clock;
  readonly distances: Distances;
}

export class RegionBookies implements Bookies {
  readonly #reached = new Map<BookieId, Bookie>();

  constructor(private readonly fields: RegionBookiesFields) {}

  bookie(id: BookieId): Bookie {
    const known = this.#reached.get(id);
    if (known !== undefined) return known;
    const found = this.fields.bookies.find((one) => one.address.id === id);
    if (found === undefined) return gatedBookie(absentBookie(id, "this cloud"), this.fields.outgoing);
    const bookie = reached(found, this.fields);
    this.#reached.set(id, bookie);
    return bookie;
  }
}

function reached({ bookie, region, power }: LocalBookie, fields: RegionBookiesFields): Bookie {
  const { from, outgoing, clock } = fields;
  const delayMs = fields.distances(from.region, region.region);
  return gatedBookie(bookie, (what, call, signal) => {
    const there = () => region.call(what, () => power.call(what, call, signal), signal);
    return outgoing(what, () => roundTrip(clock, delayMs, there, signal), signal);
  });
}
