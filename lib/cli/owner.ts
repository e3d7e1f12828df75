/** `fenceline owner`: which region owns a log, and which should. */
import type { Command } from "commander";
import type { OwnershipJson } from "../api/owner-wire.ts";
import { retrying } from "../client/retry.ts";
import {
  type ClientFlags,
  type CommandContext,
  clientCommand,
  clientOf,
  patienceOf,
  RETRY_SECONDS_LONG,
} from "./command-context.ts";
import { writeResult } from "./output.ts";

const TRANSFER_HELP = `
The owner answers what was sent to it, closes its ledger, and the region goes on in the next segment; appends
wait meanwhile and follow the log. An owner that does not answer is recovered. The log stays where it is put
unless it prefers another region.`;

export function addOwnerCommands(program: Command, context: CommandContext): void {
  const { streams } = context;
  const owner = program.command("owner").description("Which region owns a log, and which should.");
  clientCommand(owner, "show <log>", "Shows the region that owns a log.").action(
    async (log: string, flags: ClientFlags) => {
      const patience = patienceOf(flags, context);
      const shown = await retrying(patience, await clientOf(flags, context), (bounded) => bounded.owner(log));
      await writeResult(streams, flags.output, shown, ownerText(shown));
    },
  );
  clientCommand(
    owner,
    "transfer <log>",
    "Makes a region own a log, and says who owns it.",
    RETRY_SECONDS_LONG,
  )
    .requiredOption("--to <region>", "the region that is to own it")
    .addHelpText("after", TRANSFER_HELP)
    .action(async (log: string, flags: ClientFlags & { readonly to: string }) => {
      const patience = patienceOf(flags, context);
      const now = await retrying(patience, await clientOf(flags, context), (bounded) =>
        bounded.transferOwner(log, flags.to),
      );
      await writeResult(streams, flags.output, now, ownerText(now));
    });
  clientCommand(
    owner,
    "prefer <log> [region]",
    "Says where a log should be owned; without a region, anywhere.",
  ).action(async (log: string, region: string | undefined, flags: ClientFlags) => {
    const patience = patienceOf(flags, context);
    const now = await retrying(patience, await clientOf(flags, context), (bounded) =>
      bounded.preferRegion(log, region ?? null),
    );
    await writeResult(streams, flags.output, now, `${log} prefers ${now.preferred_region ?? "no region"}`);
  });
}

function ownerText({ log, owner, epoch, preferred_region: preferred }: OwnershipJson): string {
  const prefers = preferred === undefined ? "" : `; it prefers ${preferred}`;
  if (owner === null) return `${log} has no owner yet: nothing was appended${prefers}`;
  return `${log} is owned by ${owner}, in epoch ${epoch}${prefers}`;
}
