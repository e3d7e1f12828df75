/** `fenceline verify`: a workload against running regions, whose history is checked. */
import { randomBytes } from "node:crypto";
import { type Command, Option } from "commander";
import { LogClient } from "../client/log-client.ts";
import type { VerifyReport } from "../client/verify/report.ts";
import { verify, verifyLogName } from "../client/verify/verify.ts";
import { type CommandContext, needsOutputs, outputOption } from "./command-context.ts";
import { RefusedAnswer } from "./exit-codes.ts";
import { ENDPOINT_DEFAULT, endpoint, wholeNumber } from "./options.ts";
import { grouped, note, type OutputFormat, writeData } from "./output.ts";
import { wayTo } from "./proxied-send.ts";
import { inSnakeCase } from "./wire-names.ts";

interface VerifyFlags {
  readonly endpoint?: readonly string[];
  readonly outputs?: string;
  readonly region?: readonly string[];
  readonly direct?: boolean;
  readonly appenders: number;
  readonly logs: number;
  readonly duration: number;
  readonly recordBytes: number;
  readonly unknownMax: number;
  readonly readsFailedMax: number;
  readonly timeout: number;
  readonly retryFor: number;
  readonly followOwner: boolean;
  readonly plain: boolean;
  readonly keep: boolean;
  readonly json: boolean;
  readonly output: OutputFormat;
}

const HELP = `
Appenders in all the regions that are named append records of their own, one at a time each, as producers:
they send a record again, in another region too, until it is acknowledged. Behind every acknowledgement the
record is read strongly in another region. At the end all logs are read and compared with what was answered:
nothing acknowledged lost, nothing twice, every record at the position that was answered, in its appender's
order and in the order of time, and in no strong read missing.

Exit code 3 if anything of that does not hold, if nothing was acknowledged or nothing read, or if more
outcomes are unknown, or more strong reads without an answer, than --unknown-max and --reads-failed-max
allow. Regions may be taken down and up meanwhile; allow for that then:
    npx fenceline verify --endpoint http://127.0.0.1:4701 --endpoint http://127.0.0.1:4702 \\
        --endpoint http://127.0.0.1:4703 --appenders 100 --duration 30 --unknown-max 5 --reads-failed-max 50

A deployment on AWS, all of its regions, with signed requests or, by --direct, through its functions:
    npx fenceline verify --outputs cdk-outputs.json --appenders 6`;

const endpoints = (text: string, before: readonly string[] = []) => [...before, endpoint(text)];
const regions = (text: string, before: readonly string[] = []) => [...before, text];

export function addVerify(program: Command, context: CommandContext): void {
  program
    .command("verify")
    .description("Runs a workload against regions and checks its history.")
    .option(
      "--endpoint <url>",
      `a region's base URL; one for each region (default: ${ENDPOINT_DEFAULT})`,
      endpoints,
    )
    .option("--outputs <file>", "a deployment on AWS, as cdk deploy --outputs-file wrote it")
    .option("--region <name>", "a region of the deployment; one for each (default: all it has)", regions)
    .option("--direct", "invoke the regions' functions, without the gateway in front of them")
    .option("--appenders <n>", "appenders, in the regions in turn", wholeNumber(1, 10_000), 12)
    .option("--logs <n>", "logs, which the appenders take in turn", wholeNumber(1, 10_000), 1)
    .option("--duration <seconds>", "how long they append", wholeNumber(1, 86_400), 10)
    .option("--record-bytes <n>", "bytes of a record", wholeNumber(1, 500_000), 100)
    .option("--unknown-max <percent>", "unknown outcomes that are allowed", wholeNumber(0, 100), 1)
    .option("--reads-failed-max <percent>", "strong reads without an answer", wholeNumber(0, 100), 1)
    .option("--timeout <seconds>", "wait for an answer", wholeNumber(1, 600), 30)
    .option(
      "--retry-for <seconds>",
      "how long the set-up and the final reading try",
      wholeNumber(0, 86_400),
      60,
    )
    .option("--follow-owner", "appenders go to the owner themselves, in place of being forwarded", false)
    .option("--plain", "append without producers: what is in doubt is not sent again", false)
    .option("--keep", "keep the logs; they are kept in any case if the verification fails", false)
    .addOption(new Option("--json", "the same as --output json").default(false).conflicts("output"))
    .addOption(outputOption())
    .addHelpText("after", HELP)
    .action((flags: VerifyFlags) => verifyCommand(flags, context));
}

/** One for each region. They outlive an interruption: what was appended until then is read and compared. */
async function clientsOf(
  flags: VerifyFlags,
  { said: before }: CommandContext,
): Promise<readonly LogClient[]> {
  const said = before?.() ?? {};
  const outputs = flags.outputs ?? said.outputs;
  const named = flags.region ?? (said.region === undefined ? undefined : [said.region]);
  const isDirect = (flags.direct ?? said.direct) === true;
  const timeoutMs = flags.timeout * 1_000;
  if (outputs !== undefined) {
    const { deployedClients } = await import("./deployed-client.ts");
    return await deployedClients({ outputs, regions: named, isDirect, timeoutMs });
  }
  if (named !== undefined) throw needsOutputs("--region");
  if (isDirect) throw needsOutputs("--direct");
  return (flags.endpoint ?? [said.endpoint ?? ENDPOINT_DEFAULT]).map(
    (url) => new LogClient({ endpoint: url, timeoutMs, ...wayTo(url) }),
  );
}

async function verifyCommand(flags: VerifyFlags, context: CommandContext): Promise<void> {
  const { streams, signal } = context;
  const clients = await clientsOf(flags, context);
  const prefix = `verify-${randomBytes(4).toString("hex")}`;
  const report = await verify({
    clients,
    prefix,
    appenders: flags.appenders,
    logs: flags.logs,
    durationMs: flags.duration * 1_000,
    recordBytes: flags.recordBytes,
    followOwner: flags.followOwner,
    plain: flags.plain,
    unknownShareMax: flags.unknownMax / 100,
    readsFailedShareMax: flags.readsFailedMax / 100,
    patienceMs: flags.retryFor * 1_000,
    onRetry: onceEach((message) => note(streams, `${message}; trying again for ${flags.retryFor} s at most`)),
    signal,
  });
  const isJson = flags.json || flags.output === "json";
  const told = isJson ? JSON.stringify(inSnakeCase(report)) : reportText(report, flags);
  await writeData(streams, `${told}\n`);
  if (!report.passed) {
    note(streams, `The logs are kept: ${prefix}-0 and on.`);
    throw new RefusedAnswer("the verification failed");
  }
  if (flags.keep) return;
  const [client] = clients;
  for (let index = 0; index < flags.logs; index++) {
    await client
      ?.deleteLog(verifyLogName(prefix, index))
      .catch(() => note(streams, "a log could not be deleted"));
  }
}

/** Many logs meet the same trouble at once. */
function onceEach(tell: (message: string) => void): (error: Error) => void {
  const told = new Set<string>();
  return ({ message }) => {
    const trouble = message.replace(/ to [A-Z]+ \S+/, "");
    if (!told.has(trouble)) tell(message);
    told.add(trouble);
  };
}

function reportText(report: VerifyReport, { unknownMax, readsFailedMax }: VerifyFlags): string {
  const codes = Object.entries(report.codes).map(([code, count]) => `${code} ${grouped(count)}`);
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;
  const percent = (share: number) => `${(share * 100).toFixed(2)} %`;
  return [
    `${report.passed ? "passed" : "FAILED"}: ${grouped(report.violationCount)} violations`,
    ...report.violations.map(({ promise, what }) => `  ${promise} ${what}`),
    `logs            ${grouped(report.logs)}, with ${grouped(report.records)} records`,
    `acknowledged    ${grouped(report.acknowledged)} of ${grouped(report.attempts)} attempts in ` +
      `${seconds(report.durationMs)}, ${grouped(report.acknowledgedPerSecond)} per second`,
    `unknown         ${grouped(report.unknown)}, ${percent(report.unknownShare)} of the attempts; ` +
      `${unknownMax} % are allowed`,
    `refused         ${grouped(report.refused)}, without effect`,
    ...(codes.length === 0 ? [] : [`codes           ${codes.join(", ")}`]),
    `strong reads    ${grouped(report.strongReads)} behind an acknowledgement, in another region; ` +
      `${grouped(report.strongReadsFailed)} without an answer, ` +
      `${percent(report.strongReadsFailedShare)}; ${readsFailedMax} % are allowed`,
    `longest gap     ${seconds(report.longestGapMs)} without an accepted append, ` +
      `from ${seconds(report.longestGapAtMs)} on; of one log ${seconds(report.longestGapOfOneLogMs)}`,
  ].join("\n");
}
