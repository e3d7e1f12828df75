/** Each command line of the README, docs/CLI.md and docs/API.md does what the page says. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bindings, commandBlocks, filledIn, matchOutput } from "./document-blocks.ts";
import { TypedCommands } from "./typed-commands.ts";

const documents = ["README.md", "docs/CLI.md", "docs/API.md"];

/** Every block that is not run, and why. One more needs an entry here. */
const notRun = [
  "README.md: the first starts the cloud that these tests start by themselves, the second starts these tests",
  "README.md: needs an account of AWS",
  "docs/API.md: needs a deployment on AWS",
];

/** Each block's commands start processes, which a busy machine does slowly. */
const SLOW = { timeout: 60_000 };

/** A reader's machine may be without it; its blocks are skipped there, and the report says so. */
const hasCurl = spawnSync("curl", ["--version"]).status === 0;

const blocks = documents.flatMap((path) =>
  commandBlocks(readFileSync(path, "utf8")).map((block) => ({
    ...block,
    path,
    title: `${path}:${block.line}`,
  })),
);

describe("commands that documents show", () => {
  let typed: TypedCommands;
  const bindings: Bindings = new Map();

  beforeAll(async () => {
    typed = await TypedCommands.start();
  });
  afterAll(() => typed[Symbol.asyncDispose]());

  for (const { title, commands, output, notRun: reason } of blocks) {
    if (reason !== undefined) continue;
    const needsCurl = commands.some(({ text }) => text.startsWith("curl "));
    test.skipIf(needsCurl && !hasCurl)(`${title}${needsCurl ? ", with curl" : ""}`, SLOW, async () => {
      let printed = "";
      for (const { text, exitCode } of commands) {
        const { code, out, err } = await typed.type(filledIn(text, bindings));
        expect({ text, code, err: code === exitCode ? "" : out + err }).toEqual({
          text,
          code: exitCode,
          err: "",
        });
        printed += out;
      }
      if (output === undefined) return;
      const found = matchOutput(output, printed);
      if (found === undefined) expect(printed, "the document shows another output").toBe(output.text);
      for (const [name, value] of found ?? []) bindings.set(name, value);
    });
  }

  test("are all run, but for those that say why not", () => {
    expect(blocks.flatMap(({ path, notRun: reason }) => (reason ? [`${path}: ${reason}`] : []))).toEqual(
      notRun,
    );
    for (const path of documents) expect(blocks.some((block) => block.path === path)).toBe(true);
  });
});
