/** Purity, sizes, names and exports: each rule flags a small bad example and lets its good neighbour pass. */
import { describe, expect, test } from "vitest";
import { clockReadings } from "./clocks.ts";
import { protocolPurity, silentLibrary } from "./protocol-purity.ts";
import type { Rule } from "./repository.ts";
import { exportShapes, fileNames } from "./shape.ts";
import { fileLengths, functionLengths, lineLengths, longestFiles } from "./sizes.ts";

function judge(rule: Rule, path: string, text = ""): string[] {
  return rule([{ path, text }]);
}

describe("the protocol's purity", () => {
  const path = "lib/protocol/lease.ts";

  test.each([
    "Date.now()",
    "new Date()",
    "Math.random()",
    'Math["random"]()',
    "((m) => m.random())(Math)",
    "setTimeout(() => {}, 1)",
    "setInterval(() => {}, 1)",
    "process.pid",
    "console.error(1)",
    "performance.now()",
    "crypto.randomUUID()",
    "Buffer.alloc(1)",
    'fetch("x")',
    "globalThis",
    "new TextEncoder()",
    '"a".localeCompare("b")',
    "[1].map((date: Date) => date)",
    "`$" + "{process.pid}`",
  ])("refuses %s", (expression) => {
    expect(judge(protocolPurity, path, `export const value = ${expression};`)).not.toEqual([]);
  });

  test.each([
    "// Date.now() would be wrong here\nexport const one = 1;",
    "/** The process that holds it; see console. */\nexport const one = 1;",
    'export const text = "Date, process and setTimeout";',
    "export const least = Math.min(1, 2) + Math.floor(1.5);",
    "export const updatedAtMs = 1;",
  ])("accepts %j", (text) => {
    expect(judge(protocolPurity, path, text)).toEqual([]);
  });

  test("concerns lib/protocol alone", () => {
    expect(judge(protocolPurity, "lib/adapters/node/clock.ts", "export const now = Date.now;")).toEqual([]);
  });
});

test("only lib/cli may name console", () => {
  const text = 'export const warn = () => console.warn("careful");';
  expect(judge(silentLibrary, "lib/local/cloud.ts", text)).toEqual([
    "lib/local/cloud.ts:1: console has no place here",
  ]);
  expect(judge(silentLibrary, "lib/cli/print.ts", text)).toEqual([]);
  expect(judge(silentLibrary, "lib/local/cloud.ts", "// console.log would be lost")).toEqual([]);
});

describe("clocks", () => {
  const judged = (line: string) =>
    clockReadings([{ path: "lib/protocol/lease.ts", text: `export const one = ${line};` }], {});

  test.each([
    "clock.monotonicMs()",
    "clock.monotonicMs() - startedMs < 5",
    "this.ports.clock.nowMs() - readAtMs",
    "expiresAtMs < clock.nowMs()",
    "performance.now() >= giveUpAtMs",
    "Date.now() + 5",
  ])("refuses %s", (line) => expect(judged(line)).not.toEqual([]));

  test.each([
    "{ createdAtMs: clock.nowMs() }",
    "new Age(clock).isWithin(5)",
    "deadline.leftMs - 5",
    "now(1) - 2",
  ])("passes %s", (line) => expect(judged(line)).toEqual([]));

  test("a listed reader of clocks exists, and has a reason", () => {
    const files = [{ path: "lib/a/b.ts", text: "export const one = clock.monotonicMs();" }];
    expect(clockReadings(files, { "lib/a": "measures latency" })).toEqual([]);
    expect(clockReadings(files, { "lib/a": " " })).toEqual(["lib/a: no reason"]);
    expect(clockReadings(files, { "lib/a": "is a clock", "lib/gone.ts": "is a clock" })).toHaveLength(1);
  });
});

describe("sizes", () => {
  const lines = (count: number) => "const a = 1;\n".repeat(count);

  test("files: 400 lines in the product and in tests", () => {
    for (const path of [
      "lib/protocol/a.ts",
      "bin/setup.mjs",
      "functions/read/handler.ts",
      "test/a.test.ts",
    ]) {
      expect(judge(fileLengths, path, lines(400)), path).toEqual([]);
      expect(judge(fileLengths, path, lines(401)), path).toEqual([`${path}: 401 lines, at most 400`]);
    }
  });

  test("the product's longest files are named, the longest first", () => {
    const files = [3, 1, 5, 4].map((count) => ({ path: `lib/${count}.ts`, text: lines(count) }));
    const others = [{ path: "test/a.test.ts", text: lines(9) }];
    expect(longestFiles([...files, ...others], 2)).toEqual(["5 lines: lib/5.ts", "4 lines: lib/4.ts"]);
  });

  test.each([
    ["function", (body: string) => `function f() {\n${body}}\n`],
    ["arrow function", (body: string) => `const f = () => {\n${body}};\n`],
    ["method", (body: string) => `class A {\n  f() {\n${body}  }\n}\n`],
    ["getter", (body: string) => `class A {\n  get f() {\n${body}  return 1; }\n}\n`],
  ])("a %s of 60 lines passes, one of 61 does not", (_, build) => {
    expect(judge(functionLengths, "lib/a.ts", build(lines(58)))).toEqual([]);
    expect(judge(functionLengths, "lib/a.ts", build(lines(59)))).toEqual([
      expect.stringMatching(/^lib\/a\.ts:\d: f has 61 lines, at most 60$/),
    ]);
  });

  test("lines: 110 columns, counted in characters, unless a web address is in it", () => {
    expect(judge(lineLengths, "lib/a.ts", `// ${"é".repeat(107)}`)).toEqual([]);
    expect(judge(lineLengths, "lib/a.ts", `\n// ${"é".repeat(108)}`)).toEqual([
      "lib/a.ts:2: 111 columns, at most 110",
    ]);
    expect(judge(lineLengths, "lib/a.ts", `// https://example.org/${"a".repeat(100)}`)).toEqual([]);
    expect(judge(lineLengths, ".ci/run", "#".repeat(111))).toHaveLength(1);
    expect(judge(lineLengths, "docs/PROTOCOL.md", "a".repeat(111))).toEqual([]);
  });
});

test("file names: no empty words, lower case with hyphens", () => {
  for (const bad of [
    "lib/protocol/utils.ts",
    "lib/helpers/clock.ts",
    "lib/log/segment-manager.ts",
    "lib/log/log-impl.ts",
    "lib/types.ts",
    "lib/api/common.ts",
    "test/misc.test.ts",
    "lib/log/LogWriter.ts",
    "lib/log/log_writer.ts",
  ]) {
    expect(judge(fileNames, bad), bad).toHaveLength(1);
  }
  expect(judge(fileNames, "lib/protocol/log/appending/log-writer.ts")).toEqual([]);
  expect(judge(fileNames, "test/tidy/source-rules.test.ts")).toEqual([]);
});

test("exports: no default, no barrel", () => {
  expect(judge(exportShapes, "lib/a.ts", "export default class A {}")).toHaveLength(1);
  expect(judge(exportShapes, "lib/a.ts", 'export * from "./b.ts";')).toHaveLength(1);
  expect(judge(exportShapes, "lib/a.ts", "export class A {}")).toEqual([]);
});
