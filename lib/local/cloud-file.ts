/**
 * What a data directory is: its regions, and the bookies with the identities of their storage. Written
 * before any storage exists; later only to add regions and bookies, and to say what storage was set up.
 *
 * CF1 A bookie's storage identity is drawn once, and kept here and in the storage's own marker (rule 21).
 * CF2 Markers are put only while `setUp` is false, and for a bookie that is `new`. Storage that comes back
 *     empty later gets no marker, so its bookie answers nothing, and a lost disk is never taken for an empty
 *     one.
 * CF3 No new copy goes to a bookie before this file says that its storage was set up.
 */
import { existsSync, statSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { bookieId, type Region, region } from "../protocol/ids.ts";
import { type Random, randomToken } from "../protocol/random.ts";
import type { BookieAddress } from "../protocol/replication.ts";
import { isMissing, readIfThere, writeCrashSafe } from "./crash-safe-file.ts";
import { LocalError } from "./local-error.ts";

export interface BookieRecord {
  readonly region: string;
  readonly name: string;
  readonly rack: string;
  readonly storage: string;
  /** It was added and its storage may have no marker yet (CF2). */
  readonly new?: true;
}

/** Of cloud.json. A version reads its own and refuses those that came later. */
const FORMAT = 1;

export interface CloudFile {
  readonly format: typeof FORMAT;
  readonly regions: readonly string[];
  readonly bookies: readonly BookieRecord[];
  /** How many of the regions, from the first on, have a metadata replica; absent: as many as may. */
  readonly replicas?: number;
  /** Whether the storage of every bookie that is not new has its marker (CF2). */
  readonly setUp: boolean;
}

/** Names in the order in which a count of regions takes them. */
export const REGION_NAMES = [
  "us-east-1",
  "us-east-2",
  "us-west-2",
  "us-west-1",
  "ca-central-1",
  "eu-west-1",
  "eu-central-1",
  "ap-northeast-1",
  "sa-east-1",
] as const;

const REGION_COUNT_DEFAULT = 3;

export const REGIONS_MAX = REGION_NAMES.length;

export const RACKS = ["a", "b"] as const;
const REGION_NAME = /^[a-z0-9]{1,20}(-[a-z0-9]{1,20}){0,4}$/;

/** Regions from a count ("5") or from names ("eu-west-1,eu-central-1"). Throws LocalError. */
export function parseRegions(text: string): readonly string[] {
  if (/^\d+$/.test(text)) {
    const count = Number(text);
    if (count >= 1 && count <= REGION_NAMES.length) return REGION_NAMES.slice(0, count);
    throw new LocalError(`${count} regions were asked for; 1 to ${REGION_NAMES.length} are possible`);
  }
  const names = text.split(",").map((name) => name.trim());
  for (const name of names) checkRegionName(name);
  if (new Set(names).size !== names.length) throw new LocalError(`a region is named twice in "${text}"`);
  if (names.length > REGION_NAMES.length) {
    throw new LocalError(`${names.length} regions were named; at most ${REGION_NAMES.length} are possible`);
  }
  return names;
}

/** Throws LocalError. */
export function checkRegionName(name: string): void {
  if (REGION_NAME.test(name)) return;
  throw new LocalError(
    `"${name}" is no region name: lower-case letters, digits and hyphens, as in us-east-1`,
  );
}

/** What a cloud puts there before `cloud.json`, and what file systems and desktops leave anywhere. */
const HARMLESS = /^(\..*|lost\+found|metadata|regions|control\.json|cloud\.json(\.\d+\.tmp)?)$/;

/** The default directory, which the repository's tools share. */
const SHARED = ".fenceline";

/** Records are read by who runs the cloud, and by nobody else on the machine. */
const OWN = { mode: 0o700 };

/** Makes the directory if it is not there. Throws if it cannot be a cloud's, with nothing written to it. */
export async function takeDataDir(dataDir: string): Promise<void> {
  await makeFolder(dataDir);
  if (basename(dataDir) === SHARED || existsSync(cloudFilePath(dataDir))) return;
  const foreign = (await readdir(dataDir)).sort().find((name) => !HARMLESS.test(name));
  if (foreign === undefined) return;
  throw new LocalError(
    `no cloud can run on ${dataDir}: it is no cloud's directory, since it has no cloud.json and there is ` +
      `"${foreign}" in it. Nothing was written. Name an empty or a new one with --data, or a cloud's.`,
  );
}

/** Not by `recursive`: where nothing can be made, as under /proc, Node 20 would go on trying for ever. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, OWN);
  } catch (error) {
    if (isFolder(path)) return;
    if (existsSync(path)) {
      throw new LocalError(`no cloud can run on ${path}: it is a file, and --data names a folder.`);
    }
    if (!isMissing(error) || isFolder(dirname(path))) throw error;
    await makeFolder(dirname(path));
    await mkdir(path, OWN);
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** The directory's file, made if there is none. `wanted`: undefined takes the regions as they are. */
export async function openCloudFile(
  dataDir: string,
  wanted: readonly string[] | undefined,
  random: Random,
): Promise<CloudFile> {
  const path = cloudFilePath(dataDir);
  const text = await readIfThere(path);
  if (text === undefined) {
    if (existsSync(join(dataDir, "regions"))) throw identitiesLost(path);
    const made = newCloudFile(wanted ?? REGION_NAMES.slice(0, REGION_COUNT_DEFAULT), random);
    await mkdir(dataDir, { recursive: true, ...OWN });
    await writeCloudFile(dataDir, made);
    return made;
  }
  const found = parseCloudFile(path, text);
  if (wanted === undefined || wanted.join() === found.regions.join()) return found;
  throw new LocalError(
    `${dataDir} has the regions ${found.regions.join(", ")}, not ${wanted.join(", ")}. ` +
      "Leave --regions out, or choose another directory with --data.",
  );
}

/** The file, when the storage of these bookies has its markers. */
export function withSetUp(file: CloudFile, ready: readonly BookieRecord[]): CloudFile {
  const storages = new Set(ready.map((record) => record.storage));
  const bookies = file.bookies.map((record) => {
    const { new: _, ...known } = record;
    return storages.has(record.storage) ? known : record;
  });
  return { ...file, bookies, setUp: true };
}

/** `region.name~storage` at `/region/rack`. */
export function addressOf(bookie: BookieRecord): BookieAddress {
  return {
    id: bookieId(`${bookie.region}.${bookie.name}~${bookie.storage}`),
    place: { region: region(bookie.region), rack: bookie.rack },
  };
}

export function bookieDir(dataDir: string, bookie: BookieRecord): string {
  return join(regionDir(dataDir, region(bookie.region)), `${bookie.name}~${bookie.storage}`);
}

export function regionDir(dataDir: string, name: Region): string {
  return join(dataDir, "regions", name);
}

function cloudFilePath(dataDir: string): string {
  return join(dataDir, "cloud.json");
}

function newCloudFile(regions: readonly string[], random: Random): CloudFile {
  const bookies = regions.flatMap((name) =>
    RACKS.map((rack, index) => ({
      region: name,
      name: `b${index + 1}`,
      rack,
      storage: randomToken(random),
    })),
  );
  return { format: FORMAT, regions, bookies, setUp: false };
}

export async function writeCloudFile(dataDir: string, file: CloudFile): Promise<void> {
  await writeCrashSafe(cloudFilePath(dataDir), `${JSON.stringify(file, null, 2)}\n`);
}

function parseCloudFile(path: string, text: string): CloudFile {
  const file = parsedObject(text);
  if (Number.isInteger(file?.format) && Number(file?.format) > FORMAT) throw newerVersion(path, file?.format);
  const { format, regions, bookies } = file ?? {};
  if (format !== FORMAT || !Array.isArray(regions) || !Array.isArray(bookies)) throw identitiesLost(path);
  return file as CloudFile & Readonly<Record<string, unknown>>;
}

function parsedObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function newerVersion(path: string, format: unknown): LocalError {
  return new LocalError(
    `${path} was written by a newer version of Fenceline: its format is ${format}, and this version reads ` +
      `${FORMAT}. Nothing was changed. Run that version, or choose another directory with --data.`,
  );
}

function identitiesLost(path: string): LocalError {
  return new LocalError(
    `${path} is missing or not what this version writes. Restore it: it holds the identities of ` +
      "the bookies' storage, and without them their data counts as lost. Or choose another directory " +
      "with --data.",
  );
}
