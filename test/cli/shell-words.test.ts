/** Lines that can be pasted: bash reads back what was meant, whatever a name holds. */
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fencelineLine, quoted } from "../../lib/cli/shell-words.ts";
import { remedyOf } from "../../lib/cli/silent-endpoint.ts";
import { readControlFile } from "../../lib/local/control-file.ts";
import { ScratchDirectory } from "../adapters/scratch-directory.ts";
import { FaultyEndpoint } from "./faulty-endpoint.ts";
import { at, run } from "./run-command.ts";

/** The words that bash makes of a line that was pasted. */
function wordsOf(line: string, env: Readonly<Record<string, string>> = {}): string[] {
  const { stdout } = spawnSync("bash", ["-c", `printf '%s\\0' ${line}`], {
    env: { PATH: "/bin:/usr/bin", ...env },
  });
  return stdout.toString("utf8").split("\0").slice(0, -1);
}

const ODD = [
  "",
  " ",
  "a b",
  "it's",
  "''",
  '"$HOME"',
  "$(touch /tmp/never)",
  "`id`",
  "!!",
  "~",
  "~root",
  "*",
  "[a-z]?",
  "{a,b}",
  "a;b",
  "a&b|c>d<e",
  "#comment",
  "\\",
  "back\\'slash",
  "-",
  "-rf",
  "--",
  "a=b",
  "%1",
  "tab\there",
  "new\nline",
  "carriage\rreturn",
  "bell\x07 and \x1b[31mred",
  "it's\ttabbed\\n",
  "\x7f",
  "c1\u0085control",
  "right\u202eto left",
  "zero\u200bwidth",
  "grüße",
  "日本",
  "🦀🏳️‍🌈",
];

test("bash takes each for the one word that it is", () => {
  expect(wordsOf(ODD.map(quoted).join(" "))).toEqual(ODD);
  expect(wordsOf(ODD.map(quoted).join(" "), { LC_ALL: "C" })).toEqual(ODD);
  for (const word of ODD) expect(quoted(word)).not.toMatch(/[\p{Cc}\u202e\u200b]/u);
});

test("and so any word at all", () => {
  const words = fc.array(
    fc.string({ unit: "binary" }).map((word) => word.replaceAll("\0", "")),
    { minLength: 1, maxLength: 20 },
  );
  fc.assert(
    fc.property(words, (all) => {
      expect(wordsOf(all.map(quoted).join(" "))).toEqual(all);
    }),
    { numRuns: 50 },
  );
});

test("names that look like options go behind --", () => {
  const line = fencelineLine({ command: "append", operands: ["-x", "-"], options: ["--resume"] });
  expect(line).toBe("npx fenceline append --resume -- -x -");
  expect(fencelineLine({ command: "create", operands: ["x"], options: ["--outputs", "a b"] })).toBe(
    "npx fenceline create x --outputs 'a b'",
  );
});

test.each(["it's $HOME", "-x", "a b;c", "right\u202eto left"])(
  "what an append of log %j says completes it when it is pasted",
  async (log) => {
    await using endpoint = await FaultyEndpoint.open();
    await using scratch = await ScratchDirectory.make();
    const file = join(scratch.path, "some 'odd' name\t");
    await writeFile(file, "a\nb\n");
    const pasted = async (printed: string) => {
      const [, line = ""] = /npx fenceline (.*)/.exec(printed) ?? [];
      return await run(wordsOf(line));
    };
    const args = ["--endpoint", endpoint.url, "--retry-for", "0"];
    const missing = await run(["append", ...args, "--", log, file]);
    expect(missing.code).toBe(4);
    expect((await pasted(missing.err)).out).toBe(`created ${log}\n`);
    endpoint.faults.push("answer lost");
    const lost = await run(["append", ...args, "--", log, file]);
    expect(lost.code).toBe(6);
    expect((await pasted(lost.err)).code).toBe(0);
    expect(endpoint.bodies(log)).toEqual(["a", "b"]);
  },
);

test("folders and files in what a command advises are quoted", async () => {
  await using scratch = await ScratchDirectory.make();
  const folder = join(scratch.path, "it's here; rm -rf x");
  const missing = await readControlFile(folder).catch((error: unknown) => error);
  const advice = (await remedyOf(missing)) ?? "";
  const [, line = ""] = /Start it with npx fenceline (.*), or name/.exec(advice) ?? [];
  expect(wordsOf(line)).toEqual(["local", "--data", folder]);
  const { code, err } = await run(["region", "list", "--outputs", "no; such"]);
  expect([code, err]).toEqual([2, expect.stringContaining("--outputs-file 'no; such'")]);
  await using endpoint = await FaultyEndpoint.open();
  expect((await at(endpoint)("local region us-east-1 down --data /no/such")).code).toBe(2);
});
