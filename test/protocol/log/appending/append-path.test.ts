/**
 * How much of the code a warm append passes, from its route to the entry store: what a newcomer has to read
 * to follow one. Counted by the engine, in a cloud of one process, so that no list has to be believed.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { RanFile } from "./append-path.ts";

/** The append path: the log and its ledgers, without the values and adapters that everything uses. */
const FOLDERS = /^lib\/protocol\/(log|ledger)\//;
const FILES_MAX = 20;
const CLASSES_MAX = 12;

async function whatRan(): Promise<readonly RanFile[]> {
  const script = fileURLToPath(new URL("append-path.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", script]);
  return JSON.parse(stdout) as RanFile[];
}

test("a warm append passes at most 20 files and 12 classes of the log and its ledgers", async () => {
  const ran = await whatRan();
  const path = ran.filter(({ path }) => FOLDERS.test(path));
  const classes = path.flatMap((file) => file.classes);
  const list = ran.map(({ path, classes }) => `${path} ${classes.join(", ")}`.trimEnd()).join("\n");
  // It went all the way: in at the route, out at the entry store.
  expect(ran.map(({ path }) => path)).toEqual(
    expect.arrayContaining(["lib/api/record-routes.ts", "lib/protocol/bookie/stored-bookie.ts"]),
  );
  expect(classes).toEqual(expect.arrayContaining(["AppendRouter", "LogWriter", "LedgerWriter"]));
  expect(path.length, `files that a warm append passes:\n${list}`).toBeLessThanOrEqual(FILES_MAX);
  expect(classes.length, `classes: ${classes.join(", ")}\n${list}`).toBeLessThanOrEqual(CLASSES_MAX);
}, 60_000);
