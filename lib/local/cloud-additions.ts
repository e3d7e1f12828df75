/** What is added to a data directory while its cloud runs: records of new regions and bookies. */
import { type Random, randomToken } from "../protocol/random.ts";
import { type BookieRecord, type CloudFile, checkRegionName, RACKS, REGIONS_MAX } from "./cloud-file.ts";
import { LocalError, LocalNotFoundError } from "./local-error.ts";

/** Each has stores of its own in this process. */
const BOOKIES_PER_REGION_MAX = 20;

const RACK_NAME = /^[a-z0-9]{1,20}(-[a-z0-9]{1,20}){0,4}$/;

/** The bookies of a region that is not there yet, in racks a and b in turn. Throws LocalError. */
export function bookiesOfNewRegion(
  file: CloudFile,
  region: string,
  count: number,
  random: Random,
): readonly BookieRecord[] {
  checkRegionName(region);
  if (file.regions.includes(region)) {
    throw new LocalError(
      `there is a region ${region} already; add to it with npx fenceline local bookie add ${region}`,
    );
  }
  if (file.regions.length >= REGIONS_MAX) {
    throw new LocalError(`there are ${file.regions.length} regions, and at most ${REGIONS_MAX} are possible`);
  }
  checkCount(region, count);
  return Array.from({ length: count }, (_, index) => ({
    region,
    name: `b${index + 1}`,
    rack: RACKS[index % RACKS.length] ?? "a",
    storage: randomToken(random),
  }));
}

/** One more bookie of a region; without `rack` in the one that has fewest. Throws LocalError. */
export function oneMoreBookie(
  file: CloudFile,
  region: string,
  rack: string | undefined,
  random: Random,
): BookieRecord {
  if (!file.regions.includes(region)) {
    throw new LocalNotFoundError(
      "region",
      `there is no region ${region}; there are ${file.regions.join(", ")}`,
    );
  }
  if (rack !== undefined && !RACK_NAME.test(rack)) {
    throw new LocalError(`"${rack}" is no rack name: lower-case letters, digits and hyphens, as in c`);
  }
  const there = file.bookies.filter((one) => one.region === region);
  checkCount(region, there.length + 1);
  const many = (name: string) => there.filter((one) => one.rack === name).length;
  const racks = [...new Set([...RACKS, ...there.map((one) => one.rack)])].sort();
  const emptiest = racks.reduce((best, name) => (many(name) < many(best) ? name : best));
  return { region, name: `b${there.length + 1}`, rack: rack ?? emptiest, storage: randomToken(random) };
}

function checkCount(region: string, count: number): void {
  if (Number.isSafeInteger(count) && count >= 1 && count <= BOOKIES_PER_REGION_MAX) return;
  throw new LocalError(
    `region ${region} would have ${count} bookies; 1 to ${BOOKIES_PER_REGION_MAX} are possible`,
  );
}
