/** The commands, their options and their help. */
import { readFileSync } from "node:fs";
import { Command, Option } from "commander";
import type { ReadFrom } from "../client/log-client.ts";
import { ReadTimings } from "../client/read-timings.ts";
import { retrying } from "../client/retry.ts";
import { appendCommand } from "./append.ts";
import {
  type ClientFlags,
  type CommandContext,
  clientCommand,
  clientOf,
  type PlaceFlags,
  patienceOf,
  placeOptions,
  RETRY_SECONDS_LONG,
  refuseUnheeded,
  whereOf,
} from "./command-context.ts";
import { addCreate } from "./create.ts";
import { ledgerText, logText } from "./describe.ts";
import { exitCodeWords, UsageError } from "./exit-codes.ts";
import { delayed } from "./interruption.ts";
import { addLocalCommands } from "./local.ts";
import { addLogEndCommands } from "./log-end.ts";
import { seqNum, wholeNumber } from "./options.ts";
import { writeData, writeResult } from "./output.ts";
import { addOwnerCommands } from "./owner.ts";
import { addPlacementCommands } from "./placement.ts";
import { type ReadFormat, readCommand } from "./read.ts";
import { addBookieCommands, addRegionCommands } from "./regions.ts";
import { ago, since } from "./times.ts";
import { addVerify } from "./verify.ts";

/** `print` gets what was asked for of help and version. */
export function buildProgram(streamsAndSignal: CommandContext, print: (text: string) => void): Command {
  const program = placeOptions(new Command("fenceline"))
    .description("A globally replicated, fenced log.")
    .version(versionOf(), "--version", "print the version")
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError("Add --help to the command to see what it takes.")
    .configureOutput({
      writeOut: print,
      writeErr: (text) => context.streams.stderr.write(text),
    });
  const context = { ...streamsAndSignal, said: () => program.opts<PlaceFlags>() };
  addLocalCommands(program, context);
  addCreate(program, context);
  addAppend(program, context);
  addRead(program, context);
  addLogs(program, context);
  addLogEndCommands(program, context);
  addOwnerCommands(program, context);
  addLedger(program, context);
  addRegionCommands(program, context);
  addBookieCommands(program, context);
  addPlacementCommands(program, context);
  addVerify(program, context);
  program.hook("preAction", (_, command) => refuseUnheeded(program, command));
  program.addHelpText("after", EXIT_CODES);
  return program;
}

function versionOf(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}

const EXIT_CODES = [
  "",
  "Exit codes:",
  ...Object.entries(exitCodeWords).map(([code, words]) => `  ${code.padStart(3)}  ${words}`),
].join("\n");

const APPEND_HELP = `
Each line is a record, without its newline; what follows the last newline is a record too. Without files,
or for "-", standard input is read. Lines that are not UTF-8 are kept byte for byte.

Each batch is in the log once: this run is a producer whose batches are numbered, and one whose answer is lost
is sent again under its number. With --match-seq-num each is sent with the seq_num that it must get, too: a
place that is taken has other records than this run's.

To be able to complete an append whatever stops it, this command included, say where the first line goes:
    npx fenceline append words words.txt --match-seq-num 0
After a kill -9, run it again with --resume: lines that are in their place are compared and skipped, the rest
is appended, and a line that differs stops it with exit code 3:
    npx fenceline append words words.txt --match-seq-num 0 --resume
A run that fails prints that line with the --key of its sender: then no copy of its batches that is still
under way gets behind what the second run appends.`;

const ANSWER_WAIT_MS = 1_000;

function addAppend(program: Command, context: CommandContext): void {
  clientCommand(program, "append <log> [files...]", "Appends the lines of files, or of standard input.", 60)
    .option(
      "--match-seq-num <n>",
      "the first line gets this seq_num, the others follow, or exit code 3",
      seqNum,
    )
    .option(
      "--resume",
      "skip lines that are in their place already; the first is at --match-seq-num, or 0",
      false,
    )
    .option(
      "--key <key>",
      "names the sender; with --resume that of the run to complete, whose late copies are then refused",
    )
    .addHelpText("after", APPEND_HELP)
    .action(async (log: string, files: string[], flags: ClientFlags & AppendFlags) => {
      // What is under way when the command is interrupted may still be answered, and is not in doubt then.
      const signal = delayed(context.signal, ANSWER_WAIT_MS);
      await appendCommand({
        client: await clientOf(flags, { ...context, signal }),
        where: whereOf(flags, context),
        streams: context.streams,
        output: flags.output,
        log,
        sources: files.length === 0 ? ["-"] : files,
        ...(flags.matchSeqNum === undefined ? {} : { matchSeqNum: flags.matchSeqNum }),
        resume: flags.resume,
        ...(flags.key === undefined ? {} : { key: flags.key }),
        patienceMs: flags.retryFor * 1_000,
        signal: context.signal,
      });
    });
}

interface AppendFlags {
  readonly matchSeqNum?: number;
  readonly resume: boolean;
  readonly key?: string;
}

function addRead(program: Command, context: CommandContext): void {
  clientCommand(program, "read <log>", "Prints records up to the tail as it was when the command began.")
    .addOption(
      option("--from <seq_num>", "the first record; 0 if absent", seqNum, "dlsn", "since", "ago", "last"),
    )
    .addOption(
      option("--dlsn <dlsn>", "begin at this record, or right behind", String, "since", "ago", "last"),
    )
    .addOption(
      option(
        "--since <time>",
        "begin at this time: ISO 8601 with its zone, a date (from 00:00 UTC), ms since 1970, or as --ago",
        since,
        "ago",
        "last",
      ),
    )
    .addOption(
      option("--ago <duration>", "begin so long before now, by this machine's clock: 5m, 1h30m", ago, "last"),
    )
    .option("--last <n>", "begin so many records before the tail", seqNum)
    .option("--limit <n>", "records, at most", wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .addOption(
      new Option("--format <format>", "text: bodies and newlines, byte for byte; json: one object a line")
        .choices(["text", "json", "base64"])
        .default("text"),
    )
    .addOption(
      new Option("--consistency <level>", "local: what the nearest bookies know to be confirmed")
        .choices(["strong", "local"])
        .default("strong"),
    )
    .option("--timing", "say on standard error what bookies were asked for, and how long it took", false)
    .action(async (log: string, flags: ClientFlags & ReadFlags, command: Command) => {
      if (
        flags.output === "json" &&
        command.getOptionValueSource("format") === "cli" &&
        flags.format !== "json"
      ) {
        throw new UsageError(
          `--output json and --format ${flags.format} contradict each other; leave one out`,
        );
      }
      await readCommand({
        client: await clientOf(flags, context),
        ...(flags.timing ? { timings: new ReadTimings() } : {}),
        streams: context.streams,
        log,
        from: startOf(flags),
        ...(flags.limit === undefined ? {} : { limit: flags.limit }),
        format: flags.output === "json" ? "json" : flags.format,
        consistency: flags.consistency,
        patience: patienceOf(flags, context),
      });
    });
}

function option<T>(flags: string, description: string, parse: (text: string) => T, ...not: string[]) {
  return new Option(flags, description).argParser(parse).conflicts(not);
}

function startOf({ from = 0, dlsn, since: time, ago: before, last }: ReadFlags): ReadFrom {
  if (dlsn !== undefined) return { dlsn };
  const timestamp = time ?? before;
  if (timestamp !== undefined) return { timestamp };
  return last === undefined ? from : { tail_offset: last };
}

interface ReadFlags {
  readonly from?: number;
  readonly dlsn?: string;
  /** In ms since 1970, as is `ago`. */
  readonly since?: number;
  readonly ago?: number;
  readonly last?: number;
  readonly limit?: number;
  readonly format: ReadFormat;
  readonly consistency: "strong" | "local";
  readonly timing: boolean;
}

function addLogs(program: Command, context: CommandContext): void {
  clientCommand(program, "logs [prefix]", "Lists the logs whose names start with the prefix.").action(
    async (prefix: string | undefined, flags: ClientFlags) => {
      const client = await clientOf(flags, context);
      let after: { start_after?: string } = {};
      for (;;) {
        const query = { prefix: prefix ?? "", ...after };
        const page = await retrying(patienceOf(flags, context), client, (bounded) => bounded.listLogs(query));
        const lines = page.logs.map((name) =>
          flags.output === "json" ? JSON.stringify({ log: name }) : name,
        );
        await writeData(context.streams, lines.map((line) => `${line}\n`).join(""));
        const last = page.logs.at(-1);
        if (!page.has_more || last === undefined) return;
        after = { start_after: last };
      }
    },
  );
  clientCommand(program, "describe <log>", "Shows a log: configuration, tail, owner, segments.").action(
    async (log: string, flags: ClientFlags) => {
      const client = await clientOf(flags, context);
      const patience = patienceOf(flags, context);
      const description = await retrying(patience, client, (bounded) => bounded.describeLog(log));
      const tail = await retrying(patience, client, (bounded) => bounded.tail(log));
      const segments = await retrying(patience, client, (bounded) => bounded.segments(log));
      const all = { ...description, tail, ...segments };
      await writeResult(context.streams, flags.output, all, logText(description, tail, segments));
    },
  );
}

function addLedger(program: Command, context: CommandContext): void {
  const ledger = program.command("ledger").description("Looks underneath, at one ledger.");
  clientCommand(ledger, "show <id>", "Shows a ledger's metadata.").action(
    async (id: string, flags: ClientFlags) => {
      const client = await clientOf(flags, context);
      const shown = await retrying(patienceOf(flags, context), client, (bounded) => bounded.showLedger(id));
      await writeResult(context.streams, flags.output, shown, ledgerText(shown));
    },
  );
  clientCommand(
    ledger,
    "recover <id>",
    "Fences a ledger, finds its end and closes it.",
    RETRY_SECONDS_LONG,
  ).action(async (id: string, flags: ClientFlags) => {
    const client = await clientOf(flags, context);
    const closed = await retrying(patienceOf(flags, context), client, (bounded) => bounded.recoverLedger(id));
    await writeResult(context.streams, flags.output, closed, ledgerText(closed));
  });
}
