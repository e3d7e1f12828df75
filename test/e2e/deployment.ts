/**
 * The deployed shape, end to end: three regions in metadata mode `home` on whatever answers at
 * AWS_ENDPOINT_URL, driven through their REST APIs with signed requests, then a fourth region beside them.
 *
 *     AWS_ENDPOINT_URL=http://127.0.0.1:4566 npm run e2e      # what answers there
 *     npm run e2e:local                                       # MiniStack, started by this
 *
 * On an emulator, on purpose: it deletes a function and leaves everything else behind. Against AWS itself it
 * does not start. FENCELINE_E2E_MEGABYTES says how large the file is; 200 if absent.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { ScratchDirectory } from "../adapters/scratch-directory.ts";
import { run } from "../cli/run-command.ts";
import { DeployedCloud } from "./aws/deployed-cloud.ts";
import { proveEdges } from "./aws/edges.ts";
import { proveReadCannotWrite, proveReaderCannotWrite } from "./aws/least-privilege.ts";
import { largeFile, Scenario, step } from "./aws/scenario.ts";
import { TlsInFront } from "./aws/tls-in-front.ts";
import { MiniStack, NoMiniStack } from "./ministack.ts";

const [east, ohio, west, ireland] = ["us-east-1", "us-east-2", "us-west-2", "eu-west-1"] as const;

/** `isEnforced`: what answers knows its principals and lets them do what their policies say. */
async function driveDeployment(isEnforced: boolean): Promise<void> {
  await using scratch = await ScratchDirectory.make();
  const prefix = `e2e-${randomBytes(3).toString("hex")}`;
  const cloud = new DeployedCloud(prefix, scratch.path);
  const megabytes = Number(process.env.FENCELINE_E2E_MEGABYTES ?? 200);
  const orders = new Scenario(cloud, "orders");
  await step("bootstrap and deploy three regions", () => cloud.deploy([east, ohio, west]));
  await step("create a log", () => orders.create(east));
  await step("append in one region", async () => {
    const owner = await orders.append(east, ["first", "second", "third"]);
    if (owner !== east) throw new Error(`${owner} owns the log, not ${east}`);
  });
  await step("read in all regions", async () => {
    for (const region of [east, ohio, west]) await orders.readAll(region);
  });
  await step("forward to the owner", async () => {
    const owner = await orders.append(west, ["through another region"]);
    if (owner !== east) throw new Error(`${owner} owns the log, not ${east}: it was not forwarded`);
    await orders.readAll(ohio);
  });
  await step("fence a live writer", async () => {
    await orders.fence(ohio, east);
    await orders.readAll(west);
  });
  await step("append and read without the gateway", () => orders.goAroundGateway(east));
  await step("pass on octets and names, and answer pages and refusals", () => proveEdges(cloud, east));
  await step("refuse unsigned requests, and strangers", () => orders.refuseStrangers(east, isEnforced));
  if (isEnforced) {
    await step("deny read, and readers, whatever writes", async () => {
      await proveReadCannotWrite(scratch.path, prefix, [east, west]);
      await proveReaderCannotWrite(scratch.path, prefix, ohio);
      await orders.readAll(ohio);
    });
  }
  await step("transfer the log to the region that wrote it, if it left", () => orders.settleIn(east));
  await step("refuse in the wrong region", () => orders.refuseInWrongRegion(west, east, ireland));
  await step(`${megabytes} MB in and out`, () => largeFile(cloud, { into: east, outOf: west, megabytes }));
  await step("deploy again, with a fourth region", () => cloud.deploy([east, ohio, west, ireland]));
  await step("go on in four regions", async () => {
    await orders.append(ireland, ["from the fourth region"]);
    for (const { region } of cloud.regions) await orders.readAll(region);
  });
  await step("verify through all gateways", () => verifyAll(join(scratch.path, "cdk-outputs.json")));
  await step("refuse to drop a region that holds copies", async () => {
    await orders.refuseToDrop([east, ohio, ireland]);
    await orders.readAll(west);
  });
  await step("transfer it back", () => orders.settleIn(east));
  await step("take over from an owner whose append function was deleted", async () => {
    await orders.takeOver(east, ohio);
    for (const region of [ohio, west, ireland]) await orders.readAll(region);
  });
}

/**
 * As a user does. A busy emulator answers too little to judge, and is then asked for longer; a broken promise
 * is one at once.
 */
async function verifyAll(outputs: string): Promise<void> {
  const bounds = ["--unknown-max", "75", "--reads-failed-max", "75"];
  for (const seconds of [8, 30, 60]) {
    const args = ["verify", "--outputs", outputs, "--appenders", "4", "--duration", `${seconds}`, ...bounds];
    const { code, out, err } = await run([...args, "--json"]);
    process.stdout.write(`${out}${err}`);
    if (code === 0) return;
    const report = out === "" ? undefined : (JSON.parse(out) as { violation_count: number });
    if (report?.violation_count !== 0) throw new Error(`fenceline verify ended with ${code}: ${err}`);
  }
  throw new Error("fenceline verify saw too little, however long it looked");
}

/** What stands for AWS. Throws if nothing was named, or AWS itself. */
function demandEmulator(): void {
  const url = process.env.AWS_ENDPOINT_URL;
  if (url !== undefined && !/amazonaws\.com/.test(url)) return;
  throw new Error(
    "set AWS_ENDPOINT_URL to an emulator, such as http://127.0.0.1:4566, and AWS_ENDPOINT_URL_S3 beside it; " +
      "npm run e2e:local starts one by itself",
  );
}

/**
 * MiniStack, started here and stopped at the end. It lets each role do what its policy says and no more,
 * so this is also the proof that the roles suffice.
 */
async function driveMiniStack(): Promise<void> {
  await using front = await TlsInFront.open();
  const byTls = { AWS_ENDPOINT_URL_S3: front.url };
  await using emulator = await MiniStack.start({ environment: { AUTH: "true", ...byTls } });
  front.target = emulator.port;
  Object.assign(process.env, emulator.environment, byTls);
  process.stdout.write(`MiniStack answers at ${emulator.url}\n`);
  await driveDeployment(true);
}

if (process.argv.includes("--local")) {
  await driveMiniStack().catch((error: unknown) => {
    if (!(error instanceof NoMiniStack) || !process.argv.includes("--if-available")) throw error;
    process.stderr.write(`\n!!! NOT TESTED: no deployment was driven end to end: ${error.message}\n\n`);
  });
} else {
  demandEmulator();
  await driveDeployment(false);
}
