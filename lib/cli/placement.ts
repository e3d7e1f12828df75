/** `fenceline placement`: what admission and placement say of a topology, without a server. */
import { type Command, Option } from "commander";
import { withWireNames } from "../api/size-names.ts";
import type { Admission, AdmissionRefusal } from "../protocol/placement/admission.ts";
import type { PlacementRefusal, RegionCount } from "../protocol/placement/placement.ts";
import {
  admitPlan,
  type PlannedEnsemble,
  type PlannedRegion,
  placePlan,
} from "../protocol/placement/what-if.ts";
import { type CommandContext, outputOption } from "./command-context.ts";
import { RefusedAnswer, UsageError } from "./exit-codes.ts";
import { plannedTopology, quorumSize } from "./options.ts";
import { commandWords, type OutputFormat, writeResult } from "./output.ts";
import { inSnakeCase } from "./wire-names.ts";

interface PlanFlags {
  readonly ensemble: number;
  readonly writeQuorum: number;
  readonly ackQuorum: number;
  readonly minRegions: number;
  readonly topology: readonly PlannedRegion[];
  readonly json: boolean;
  readonly output: OutputFormat;
}

const HELP = `
Neither needs a running cloud. Exit code 0: accepted; 3: refused. A topology is each region with how many
bookies it has, in two racks in turn, or in so many as stand after a slash:
    npx fenceline placement check --ensemble 4 --write-quorum 4 --ack-quorum 3 --min-regions 2 \\
        --topology us-east-1:20,us-east-2:20,us-west-2:6/3`;

export function addPlacementCommands(program: Command, context: CommandContext): void {
  const placement = program
    .command("placement")
    .description("Tries quorum sizes on a topology that need not exist.")
    .addHelpText("after", HELP);
  planCommand(placement, "check", "Says whether a log may have these quorum sizes.").action(
    async (flags: PlanFlags) => {
      const answer = admitPlan(sizesOf(flags), flags.topology);
      const format = flags.json ? "json" : flags.output;
      await writeResult(context.streams, format, admissionJson(answer), admissionText(answer));
      if (answer.kind === "refused") throw new RefusedAnswer(answer.reason);
    },
  );
  planCommand(placement, "place", "Prints an ensemble and its write sets.")
    .option(
      "--down <region>",
      "a region that is lost; may be given again",
      (name, all: string[]) => [...all, name],
      [],
    )
    .action(async (flags: PlanFlags & { readonly down: readonly string[] }) => {
      const names = flags.topology.map((one) => one.name);
      const strange = flags.down.find((name) => !names.includes(name));
      if (strange !== undefined) {
        throw new UsageError(
          `--down ${strange} is no region of the topology, which has ${names.join(", ")}; give --down once ` +
            "for each region",
        );
      }
      const answer = placePlan(sizesOf(flags), flags.topology, flags.down);
      const format = flags.json ? "json" : flags.output;
      if (answer.kind === "placed") {
        await writeResult(context.streams, format, placedJson(answer), placedText(answer));
        return;
      }
      await writeResult(
        context.streams,
        format,
        refusalJson(answer),
        `refused: ${commandWords(answer.reason)}`,
      );
      throw new RefusedAnswer(answer.reason);
    });
}

function planCommand(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .requiredOption("--ensemble <n>", "bookies that a fragment is striped over", quorumSize)
    .requiredOption("--write-quorum <n>", "bookies that each entry goes to", quorumSize)
    .requiredOption("--ack-quorum <n>", "bookies that must hold an entry", quorumSize)
    .requiredOption("--min-regions <n>", "regions that those must span", quorumSize)
    .requiredOption(
      "--topology <list>",
      "region:bookies or region:bookies/racks, with commas",
      plannedTopology,
    )
    .addOption(new Option("--json", "the same as --output json").default(false).conflicts("output"))
    .addOption(outputOption());
}

function sizesOf(flags: PlanFlags) {
  const { ensemble, writeQuorum, ackQuorum, minRegions } = flags;
  return { ensembleSize: ensemble, writeQuorum, ackQuorum, minRegions };
}

function admissionJson(answer: Admission) {
  if (answer.kind === "refused") return refusalJson(answer);
  const { smallestAckQuorum, warnings, availability } = answer;
  return {
    accepted: true,
    smallest_ack_quorum: smallestAckQuorum,
    reason: null,
    warnings: warnings.map(withWireNames),
    availability: inSnakeCase(availability),
  };
}

function refusalJson(answer: AdmissionRefusal | PlacementRefusal) {
  const smallest = "smallestAckQuorum" in answer ? answer.smallestAckQuorum : undefined;
  return {
    accepted: false,
    smallest_ack_quorum: smallest ?? null,
    reason: commandWords(answer.reason),
    warnings: [],
    ...("change" in answer ? { change: answer.change.map(withWireNames) } : {}),
  };
}

function admissionText(answer: Admission): string {
  if (answer.kind === "refused") return `refused: ${commandWords(answer.reason)}`;
  const { smallestAckQuorum, availability, warnings } = answer;
  const { lossesInPlace, oneLossAckQuorumMax } = availability;
  const many = lossesInPlace === 1 ? "one region is" : `${lossesInPlace} regions are`;
  const losses =
    lossesInPlace > 0
      ? `writes go on in place when any ${many} lost`
      : `the loss of a region can stall writes until the ensemble has changed; ` +
        (oneLossAckQuorumMax >= smallestAckQuorum
          ? `an ack quorum of at most ${oneLossAckQuorumMax} would not`
          : "no legal ack quorum avoids that");
  return [
    `accepted: the smallest legal ack quorum is ${smallestAckQuorum}`,
    losses,
    ...warnings.map((warning) => `warning: ${commandWords(warning)}`),
  ].join("\n");
}

function placedJson({ ensemble, regionCounts, writeSets, warnings }: PlannedEnsemble) {
  return {
    accepted: true,
    ensemble: ensemble.map(({ id, place }, position) => ({ position, bookie: id, ...place })),
    region_counts: countsJson(regionCounts),
    write_sets: writeSets.map((set) => ({
      first_entry: set.firstEntry,
      bookies: set.members.map(({ id }) => id),
      region_counts: countsJson(set.regionCounts),
    })),
    warnings: warnings.map(withWireNames),
  };
}

function placedText({ ensemble, regionCounts, writeSets, warnings }: PlannedEnsemble): string {
  const width = Math.max(...ensemble.map(({ id }) => id.length)) + 2;
  const members = ensemble.map(
    ({ id, place }, position) =>
      `  ${String(position).padStart(4)}  ${id.padEnd(width)}/${place.region}/${place.rack}`,
  );
  const sets = writeSets.map(
    (set) =>
      `  ${String(set.firstEntry).padStart(4)}  ${set.members.map(({ id }) => id).join(" ")}  ` +
      `(${countsText(set.regionCounts)})`,
  );
  return [
    `ensemble (${countsText(regionCounts)}):`,
    ...members,
    writeSets.length === 1 ? "write set of every entry:" : "write sets, by entry id modulo the ensemble:",
    ...sets,
    ...warnings.map((warning) => `warning: ${commandWords(warning)}`),
  ].join("\n");
}

function countsJson(counts: readonly RegionCount[]) {
  return Object.fromEntries(counts.map(({ region, bookies }) => [region, bookies]));
}

function countsText(counts: readonly RegionCount[]): string {
  return counts.map(({ region, bookies }) => `${region} ${bookies}`).join(", ");
}
