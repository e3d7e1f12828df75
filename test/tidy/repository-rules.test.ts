/** Dead files, wording, documents: each rule flags a small bad example and lets its good neighbour pass. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  decisionNumbers,
  documentFileNames,
  documentLinks,
  documentPaths,
  scriptPaths,
  whereIsWhat,
} from "./documents.ts";
import { needlessExports } from "./needless-exports.ts";
import { paragraphLengths } from "./paragraphs.ts";
import { picturesInComments, picturesInDocuments } from "./pictures.ts";
import { deadFiles, type TestOnly } from "./reachability.ts";
import { ownEnvironment, readRepository, type SourceFile } from "./repository.ts";
import { foreignWords, machinePaths, unfinishedMarks } from "./wording.ts";

function filesOf(texts: Readonly<Record<string, string>>): SourceFile[] {
  return Object.entries(texts).map(([path, text]) => ({ path, text }));
}

describe("dead files", () => {
  const judge = (texts: Readonly<Record<string, string>>, testOnly: TestOnly = {}) =>
    deadFiles(filesOf(texts), testOnly);
  const alive = {
    "bin/app.ts": 'import { a } from "../lib/a.ts";',
    "lib/a.ts": 'import type { B } from "./b.ts"; export const a: B = 1;',
    "lib/b.ts": "export type B = number;",
  };

  test("what bin reaches by any chain of imports is alive", () => {
    expect(judge(alive)).toEqual([]);
    expect(
      judge({ ...alive, "functions/x/handler.ts": 'void import("../../lib/c.ts");', "lib/c.ts": "" }),
    ).toEqual([]);
  });

  test("what nothing reaches is dead, and so is what only the dead reach", () => {
    const dead = { "lib/c.ts": 'import { d } from "./d.ts";', "lib/d.ts": "export const d = 1;" };
    expect(judge({ ...alive, ...dead })).toEqual([
      "lib/c.ts: nothing reaches it",
      "lib/d.ts: nothing reaches it",
    ]);
  });

  const tested = { ...alive, "lib/c.ts": "", "test/c.test.ts": 'import "../lib/c.ts";' };

  test("what only tests reach needs an entry with a reason", () => {
    expect(judge(tested)).toEqual(["lib/c.ts: only tests reach it, nothing in bin or functions does"]);
    expect(judge(tested, { "lib/c.ts": "the simulator's store" })).toEqual([]);
    expect(judge(tested, { "lib/c.ts": " " })).toHaveLength(1);
  });

  test("an entry covers what it imports", () => {
    const chain = { ...tested, "lib/c.ts": 'import "./d.ts";', "lib/d.ts": "" };
    expect(judge(chain, { "lib/c.ts": "the simulator's store" })).toEqual([]);
  });

  test("an entry that is not needed any more fails", () => {
    const listed = { "lib/c.ts": "the simulator's store" };
    expect(judge(alive, listed)).toHaveLength(1);
    expect(
      judge({ ...tested, "bin/app.ts": 'import "../lib/c.ts"; import "../lib/a.ts";' }, listed),
    ).toHaveLength(1);
    expect(judge({ ...alive, "lib/c.ts": "" }, listed)).toHaveLength(1);
  });

  test("a file under test must serve a test or a script", () => {
    expect(judge({ "test/world.ts": "" })).toEqual(["test/world.ts: no test and no script needs it"]);
    expect(judge({ "test/world.ts": "", "test/a.test.ts": 'import "./world.ts";' })).toEqual([]);
    expect(
      judge({ "test/child.ts": "", "test/a.test.ts": 'new URL("./child.ts", import.meta.url);' }),
    ).toEqual([]);
    expect(judge({ "test/child.ts": "", "test/a.test.ts": 'const path = "test/child.ts";' })).toEqual([]);
    expect(judge({ "test/main.ts": "", "package.json": '{"scripts":{"x":"node test/main.ts"}}' })).toEqual(
      [],
    );
    expect(judge({ "test/main.ts": "", ".ci/run": "node test/main.ts" })).toEqual([]);
  });
});

describe("places that documents name", () => {
  const code = {
    "lib/a/b.ts": "export class Reader {\n  async read(): Promise<void> {}\n}\n\nexport function find() {}\n",
  };

  test("by the end of a path are there", () => {
    const judge = (text: string) => documentFileNames(filesOf({ ...code, "docs/X.md": text }));
    expect(judge("`a/b.ts`, b.ts and ../lib/a/b.ts")).toEqual([]);
    expect(judge("`c/b.ts`")).toEqual(["docs/X.md: names c/b.ts, which no path ends with"]);
  });

  const table = (...rows: string[]) =>
    whereIsWhat(
      filesOf({
        ...code,
        "docs/ARCHITECTURE.md": ["## Where is what", "", "| what | where |", "| --- | --- |", ...rows].join(
          "\n",
        ),
      }),
    );

  test("in the table of places have what is looked for", () => {
    expect(table("| reading | `Reader.read`, `find` in `lib/a/b.ts` |")).toEqual([]);
    expect(table("| reading | `Reader.write` in `lib/a/b.ts` |")).toHaveLength(1);
    expect(table("| reading | `Writer` in `lib/a/b.ts` |")).toHaveLength(1);
    expect(table("| reading | `Reader` in `lib/a/c.ts` |")).toHaveLength(2);
    expect(table("| reading | `Reader` |")).not.toEqual([]);
    expect(whereIsWhat(filesOf(code))).toHaveLength(1);
  });
});

describe("paragraphs of documents", () => {
  const words = (count: number) => Array.from({ length: count }, () => "word").join(" ");
  const judge = (text: string, path = "README.md") => paragraphLengths(filesOf({ [path]: text }));

  test("have 150 words at most, however their lines are broken", () => {
    expect(judge(`# Title\n\n${words(150)}\n`)).toEqual([]);
    expect(judge(`# Title\n\n${words(100)}\n${words(51)}\n`)).toEqual([
      "README.md:3: a paragraph of 151 words, at most 150",
    ]);
  });

  test("are each item of a list and each row of a table; code is none", () => {
    const long = words(140);
    expect(judge(`- ${long}\n- ${long}\n1. ${long}\n  - ${long}\n\n| ${long} |\n| ${long} |\n`)).toEqual([]);
    expect(judge(`- ${long}\n  ${long}\n`)).toHaveLength(1);
    expect(judge(`\`\`\`sh\n${words(151)}\n\`\`\`\n`)).toEqual([]);
    expect(judge(words(151), "lib/a.ts")).toEqual([]);
  });
});

describe("pictures", () => {
  const inDocument = (text: string) => picturesInDocuments(filesOf({ "docs/adr/0001-x.md": text }));

  test.each([
    "The caller is told so.",
    "A read tells how long it took.",
    "Whoever reads it knows.",
    "The writer lets go of it.",
    "It ends by and by.",
    "Its writer went on unawares.",
    "A token tells two holders apart.",
    "Nobody waits for it.",
    "Who writes it is fenced.",
    "It is fenced; who writes it learns so.",
  ])("%s is refused", (text) => {
    expect(inDocument(text)).toHaveLength(1);
  });

  test.each([
    "The caller gets an answer.",
    "The process who froze.",
    "`leases-tell-tails` and `whoever`.",
    "Who writes it?",
    "```ts\nwhoever();\n```",
  ])("%s is let pass", (text) => {
    expect(inDocument(text)).toEqual([]);
  });

  test("in code stand in comments only", () => {
    const [said, heard] = ["Whoever", "is told"];
    const code = `/** ${said} reads. */\nconst whoever = "told"; // ${heard}\n// \`told\`\n`;
    expect(
      picturesInComments(filesOf({ "lib/a.ts": code })).map((one) => one.split(" is a picture")[0]),
    ).toEqual(['lib/a.ts:1: "Whoever"', 'lib/a.ts:2: "is told"']);
  });
});

describe("wording", () => {
  const say = (text: string, path = "docs/ARCHITECTURE.md") => filesOf({ [path]: text });

  test.each(["/wo-rk/main", "see /ro-ot/x", "(/ho-me/me/x)", "C:\\Us-ers\\me", "file:///ho-me/x"])(
    "a path like %s is refused",
    (broken) => {
      expect(machinePaths(say(broken.replace("-", "")))).toHaveLength(1);
    },
  );

  test.each(["lib/root/x", "https://example.org/work", "/tmp/x", "network/home/"])("%s is fine", (text) => {
    expect(machinePaths(say(text))).toEqual([]);
  });

  test.each(["// FIX-ME", "TO-DO: later", "XX-X"])("%s is refused", (broken) => {
    expect(unfinishedMarks(say(broken.replace("-", "")))).toHaveLength(1);
  });

  test.each([
    ...["an a-gent", "A-gents", "suba-gent", "L-LM", "Cl-aude", "G-PT", "a pro-mpt", "A-I"],
    ...["see iss-ue 12", "(iss-ue: 503", "Iss-ue #4", "se-ed 000"],
  ])("%s is refused", (broken) => {
    expect(foreignWords(say(broken.replace("-", "")))).toHaveLength(1);
  });

  test.each([
    "the user-a-gent header",
    "new https.A-gent()",
    "promptly",
    "email",
    "seed 42",
    "an issue",
    "aim",
  ])("%s is fine", (text) => {
    expect(foreignWords(say(text.replace(/(?<=a)-(?=g)/i, "")))).toEqual([]);
  });

  test("every kind of file is read, save what we did not write", () => {
    const bad = "FIX-ME".replace("-", "");
    expect(unfinishedMarks(say(bad, "lib/a.ts"))).toEqual([
      `lib/a.ts:1: "${bad}" is a mark of unfinished work`,
    ]);
    expect(unfinishedMarks(say(bad, ".ci/run"))).toHaveLength(1);
    expect(unfinishedMarks(say(bad, "package-lock.json"))).toEqual([]);
  });
});

describe("documents", () => {
  const page = (text: string) =>
    filesOf({
      "README.md": text,
      "docs/PROTOCOL.md": "# The protocol\n\n## Rule 1: `fence` first, then read!\n\n## Twice\n\n## Twice\n",
      "lib/protocol/ports.ts": "",
      "package.json": '{"scripts":{"verify":"bash .ci/run"}}',
    });

  test.each([
    "[a](docs/NOWHERE.md)",
    "[a](docs/PROTOCOL.md#rule-9)",
    "[a](#nowhere)",
    "[a]: docs/NOWHERE.md",
  ])("%s leads nowhere", (text) => {
    expect(documentLinks(page(text))).toHaveLength(1);
  });

  test.each([
    ...["[a](docs/PROTOCOL.md)", "[a](docs/)", "[a](https://example.org/x)", "# Here\n[a](#here)"],
    ...["[a](docs/PROTOCOL.md#rule-1-fence-first-then-read)", "[a](docs/PROTOCOL.md#twice-1)"],
    ...["`[a](x)`", "```\n[a](x)\n```"],
  ])("%j is fine", (text) => {
    expect(documentLinks(page(text))).toEqual([]);
  });

  test.each([
    "`lib/gone.ts`",
    "```sh\nnode bin/gone.mjs\n```",
    "`npm run gone`",
    "```\nnpm run -s gone\n```",
  ])("%j names what is not there", (text) => {
    expect(documentPaths(page(text))).toHaveLength(1);
  });

  test.each([
    "`lib/protocol/ports.ts`",
    "`lib/protocol/`",
    "`lib/adapters/<name>`",
    "`npm run verify`",
    "lib/x",
  ])("%j is fine", (text) => {
    expect(documentPaths(page(text))).toEqual([]);
  });

  test("scripts name files that exist", () => {
    expect(scriptPaths(page(""))).toEqual([
      "package.json: the script verify names .ci/run, which does not exist",
    ]);
    expect(scriptPaths([...page(""), { path: ".ci/run", text: "" }])).toEqual([]);
  });
});

describe("reading the repository", () => {
  function temporaryRepository(): string {
    const root = mkdtempSync(join(tmpdir(), "fenceline-tidy-"));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    mkdirSync(join(root, "lib/node_modules"), { recursive: true });
    writeFileSync(join(root, "lib/a.ts"), "one\n");
    writeFileSync(join(root, "lib/b.bin"), "\0");
    writeFileSync(join(root, "lib/node_modules/c.ts"), "not ours\n");
    writeFileSync(join(root, ".gitignore"), "node_modules/\n");
    return root;
  }

  test("without git, by walking", () => {
    expect(
      readRepository(temporaryRepository())
        .map((file) => file.path)
        .sort(),
    ).toEqual([".gitignore", "lib/a.ts"]);
  });

  test("with git, tracked files and new ones, less the ignored and the deleted", () => {
    const root = temporaryRepository();
    const git = (...args: string[]) =>
      execFileSync("git", args, { cwd: root, env: ownEnvironment(), stdio: "ignore" });
    git("init");
    writeFileSync(join(root, "gone.ts"), "");
    git("add", "gone.ts");
    rmSync(join(root, "gone.ts"));
    expect(
      readRepository(root)
        .map((file) => file.path)
        .sort(),
    ).toEqual([".gitignore", "lib/a.ts"]);
  });
});

describe("decisions", () => {
  const listed = { "docs/ARCHITECTURE.md": "[a](adr/0001-a.md), [b](adr/0001-b.md)" };

  test.each([
    [{ ...listed, "docs/adr/0001-a.md": "# 2. A" }, "heading"],
    [{ ...listed, "docs/adr/0001-a.md": "# 1. A", "docs/adr/0001-b.md": "# 1. B" }, "another decision"],
    [{ ...listed, "docs/adr/0003-c.md": "# 3. C" }, "does not list"],
  ])("%j is not in order", (texts, fault) => {
    expect(decisionNumbers(filesOf(texts))).toEqual([expect.stringContaining(fault)]);
  });

  test("that are numbered and listed are fine", () => {
    expect(decisionNumbers(filesOf({ ...listed, "docs/adr/0001-a.md": "# 1. A" }))).toEqual([]);
  });
});

test("an export that no other file imports is refused, whatever it declares", () => {
  const judge = (importing: string) =>
    needlessExports([
      {
        path: "lib/a.ts",
        text: "export const used = 1;\nexport interface Needless {}\nexport class Told {}",
      },
      { path: "test/b.test.ts", text: importing },
    ]);
  expect(judge('import { used, type Told } from "../lib/a.ts";')).toEqual([
    "lib/a.ts:2: nobody imports Needless; keep it inside",
  ]);
  expect(judge('import { used } from "../lib/a.ts";')).toHaveLength(2);
  expect(judge('export { used, Told, Needless as Known } from "../lib/a.ts";')).toEqual([]);
  expect(judge('import * as a from "../lib/a.ts";')).toEqual([]);
  expect(judge('type A = import("../lib/a.ts").Told;')).toEqual([]);
});
