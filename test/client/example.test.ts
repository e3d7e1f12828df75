/** The programs that documents show: the files they are; that for AWS is run against a region's surface. */
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ScratchDirectory } from "../adapters/scratch-directory.ts";
import { FaultyEndpoint } from "../cli/faulty-endpoint.ts";

const EXAMPLE = "examples/orders-on-aws.ts";
const run = promisify(execFile);

test.each([
  ["README.md", "examples/orders.ts"],
  ["docs/API.md", EXAMPLE],
])("%s shows %s", async (document, path) => {
  const code = (await readFile(path, "utf8")).replace(/^\/\*\*[\s\S]*?\*\/\n/, "");
  expect(await readFile(document, "utf8")).toContain(`\`\`\`ts\n${code}\`\`\``);
});

test("it runs: what it appended it reads back, twice over", { timeout: 60_000 }, async () => {
  const scratch = await ScratchDirectory.make();
  await using endpoint = await FaultyEndpoint.open();
  const outputs = join(scratch.path, "cdk-outputs.json");
  const region = { Region: "us-east-1", Endpoint: endpoint.url, AppendFunction: "a", ReadFunction: "r" };
  await writeFile(outputs, JSON.stringify({ "fenceline-us-east-1": region }));
  const env = {
    ...process.env,
    AWS_ACCESS_KEY_ID: "AKIDTEST",
    AWS_SECRET_ACCESS_KEY: "a secret of this test",
  };
  const printed: string[] = [];
  for (let runs = 0; runs < 2; runs++) {
    const args = ["--import", "tsx", EXAMPLE, outputs, "us-east-1"];
    printed.push((await run(process.execPath, args, { env, timeout: 50_000 })).stdout);
  }
  expect(printed).toEqual(["0 one order\n1 and another\n", "2 one order\n3 and another\n"]);
  await scratch.remove();
});
