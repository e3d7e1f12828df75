/** `fenceline region` and `fenceline bookie`: what operators say of them, through a region's HTTP surface. */
import type { Command } from "commander";
import type { BookieJson, BookieStateJson, RegionJson, RegionStateJson } from "../api/region-wire.ts";
import { retrying } from "../client/retry.ts";
import {
  type ClientFlags,
  type CommandContext,
  clientCommand,
  clientOf,
  patienceOf,
} from "./command-context.ts";
import { NotFoundError, UsageError } from "./exit-codes.ts";
import { writeResult } from "./output.ts";

const REGION_VERBS: readonly (readonly [verb: string, state: RegionStateJson, description: string])[] = [
  ["accept", "accepting", "Lets the region take new copies again."],
  ["drain", "draining", "Keeps new copies out of the region; what it holds stays readable."],
  ["lost", "lost", "Says that the region is gone: no new copies, and others look after its logs."],
];

const BOOKIE_VERBS: readonly (readonly [state: BookieStateJson, description: string])[] = [
  ["writable", "Lets the bookie take new copies again."],
  ["read-only", "Keeps new copies off the bookie; what it holds stays readable."],
  ["lost", "Says that the bookie's storage is gone: no new copies."],
];

const WITHIN = `
Functions at work know within ten seconds. A ledger that is open stays where it is until a bookie fails or its
log rolls.

Nothing copies anew what a lost region or bookie held: the segments that are there have so many copies fewer,
and are read from the others. Only what is appended from then on has all its copies.`;

export function addRegionCommands(program: Command, context: CommandContext): void {
  const region = program
    .command("region")
    .description("Regions and who of them takes new copies.")
    .addHelpText("after", WITHIN);
  clientCommand(region, "list", "Lists regions and bookies with their states.").action(
    async (flags: ClientFlags) => {
      const list = await retrying(patienceOf(flags, context), await clientOf(flags, context), (bounded) =>
        bounded.regions(),
      );
      await writeResult(context.streams, flags.output, list, list.regions.map(regionText).join("\n"));
    },
  );
  for (const [verb, state, description] of REGION_VERBS) {
    const command = clientCommand(region, `${verb} <name>`, description).addHelpText("after", WITHIN);
    command.action(async (name: string, flags: ClientFlags) => {
      const client = await clientOf(flags, context);
      const set = await retrying(patienceOf(flags, context), client, (bounded) =>
        bounded.setRegionState(name, state),
      );
      await writeResult(context.streams, flags.output, set, `${set.region} is ${set.state}`);
    });
  }
}

export function addBookieCommands(program: Command, context: CommandContext): void {
  const bookie = program
    .command("bookie")
    .description("Bookies and who of them takes new copies; npx fenceline region list has their ids.")
    .addHelpText("after", WITHIN);
  for (const [state, description] of BOOKIE_VERBS) {
    const command = clientCommand(bookie, `${state} <id>`, description).addHelpText("after", WITHIN);
    command.action(async (id: string, flags: ClientFlags) => {
      const client = await clientOf(flags, context);
      const patience = patienceOf(flags, context);
      const { regions } = await retrying(patience, client, (bounded) => bounded.regions());
      const found = bookieNamed(id, regions);
      const set = await retrying(patience, client, (bounded) =>
        bounded.setBookieState(found.region, found.bookie, state),
      );
      await writeResult(context.streams, flags.output, set, `${set.bookie} is ${set.state}`);
    });
  }
}

/** By its whole id, or by what stands before the "~" if no other bookie has the same. */
function bookieNamed(id: string, regions: readonly RegionJson[]): BookieJson {
  const all = regions.flatMap((region) => region.bookies);
  const found = all.filter(({ bookie }) => bookie === id || bookie.split("~")[0] === id);
  const [one] = found;
  if (one !== undefined && found.length === 1) return one;
  const names = (some: readonly BookieJson[]) => some.map(({ bookie }) => bookie).join(", ");
  if (one === undefined)
    throw new NotFoundError(`there is no bookie ${id}; there are ${names(all) || "none"}`);
  throw new UsageError(`${id} may be ${names(found)}; give the whole id`);
}

function regionText({ region, state, bookies }: RegionJson): string {
  const lines = bookies.map(
    ({ bookie, rack, state: said }) => `  ${said.padEnd(12)}${bookie} in rack ${rack}`,
  );
  return [`${region.padEnd(16)}${state}`, ...lines].join("\n");
}
