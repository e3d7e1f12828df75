/** The bundled `read` function serves the document whose maker it loads only then. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { BUNDLE_FILE, bundleFunctions } from "../../lib/bundles/function-bundles.ts";
import { regionVariables } from "../../lib/environment.ts";
import { apiUnderTest } from "../api/api-under-test.ts";
import { oneRegion } from "./one-region.ts";

const environment = regionVariables(oneRegion);

const event = { httpMethod: "GET", path: "/v1/openapi.json", headers: {}, requestContext: {}, body: null };

const script = `
  const [file, event] = process.argv.slice(1);
  require(file).handler(JSON.parse(event), {}).then((answer) => {
    process.stdout.write("\\n" + JSON.stringify(answer));
    process.exit(0);
  });`;

test("the document that the deployed function serves is the one that a laptop serves", async () => {
  const directory = await mkdtemp(join(tmpdir(), "fenceline-bundled-"));
  try {
    const { read } = await bundleFunctions(join(directory, "functions"));
    await writeFile(join(directory, "package.json"), '{"type":"commonjs"}');
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["-e", script, join(read, BUNDLE_FILE), JSON.stringify(event)],
      { env: { AWS_REGION: "us-east-1", ...environment }, timeout: 60_000 },
    );
    const answer = JSON.parse(stdout.slice(stdout.lastIndexOf("\n"))) as { statusCode: number; body: string };
    expect(answer.statusCode).toBe(200);
    const here = await apiUnderTest().send("GET", "/v1/openapi.json");
    expect(JSON.parse(answer.body)).toEqual(await here.json());
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}, 90_000);
