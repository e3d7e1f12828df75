/** The graph of imports: each rule flags a small bad example and lets its good neighbour pass. */
import { describe, expect, test } from "vitest";
import { importCircles, smallFiles, upwardImports } from "./import-graph.ts";
import { resolve } from "./parse.ts";
import type { SourceFile } from "./repository.ts";

/** Files of one folder, each with the imports given. */
function graph(
  imports: Readonly<Record<string, readonly string[]>>,
  folder = "lib/protocol/log",
): SourceFile[] {
  return Object.entries(imports).map(([path, targets]) => ({
    path: `${folder}/${path}`,
    text: targets.map((target) => `import type { A } from "${target}";\n`).join(""),
  }));
}

describe("circles", () => {
  test("two files that import types from each other", () => {
    expect(importCircles(graph({ "a.ts": ["./b.ts"], "b.ts": ["./a.ts"] }, "lib"))).toEqual([
      "a circle of imports: lib/a.ts -> lib/b.ts -> lib/a.ts",
    ]);
  });

  test("a file that imports itself", () => {
    expect(importCircles(graph({ "a.ts": ["./a.ts"] }, "lib"))).toHaveLength(1);
  });

  test("the shortest way round is named, once for all files that are on one", () => {
    const knot = { "a.ts": ["./b.ts"], "b.ts": ["./c.ts"], "c.ts": ["./d.ts", "./a.ts"], "d.ts": ["./b.ts"] };
    expect(importCircles(graph(knot, "lib"))).toEqual([
      "a circle of imports: lib/a.ts -> lib/b.ts -> lib/c.ts -> lib/a.ts",
    ]);
  });

  test("each circle apart is named, and not what only leads to one", () => {
    const two = {
      ...{ "a.ts": ["./b.ts", "./x.ts"], "b.ts": ["./a.ts"] },
      ...{ "x.ts": ["./y.ts"], "y.ts": ["./x.ts"], "z.ts": ["./x.ts"] },
    };
    expect(importCircles(graph(two, "lib"))).toHaveLength(2);
  });

  test("re-exports and types in line count", () => {
    const files = [
      { path: "lib/a.ts", text: 'export type { B } from "./b.ts";' },
      { path: "lib/b.ts", text: 'export type B = import("./a.ts").A;' },
    ];
    expect(importCircles(files)).toHaveLength(1);
  });

  test("two ways to one file are no circle, and tests may do as they like", () => {
    const square = { "a.ts": ["./b.ts", "./c.ts"], "b.ts": ["./d.ts"], "c.ts": ["./d.ts"], "d.ts": [] };
    expect(importCircles(graph(square, "lib"))).toEqual([]);
    expect(importCircles(graph({ "a.ts": ["./b.ts"], "b.ts": ["./a.ts"] }, "test"))).toEqual([]);
  });
});

describe("the floors of the protocol", () => {
  test.each([
    ["records/record.ts", "../operations.ts"],
    ["log-ref.ts", "./records/record.ts"],
    ["log-ports.ts", "./producers/producer-table.ts"],
    ["chain/segments.ts", "../reading/log-reader.ts"],
    ["lease/writer-lease.ts", "../appending/active-segment.ts"],
    ["opening/open-segment.ts", "../lease/writer-lease.ts"],
    ["appending/log-writer.ts", "../ownership/hand-over.ts"],
    ["upkeep/audit.ts", "../log-appends.ts"],
    ["log-reads.ts", "../compose-region.ts"],
  ])("%s may not import %s", (path, target) => {
    const there = resolve(`lib/protocol/log/${path}`, target);
    expect(upwardImports([...graph({ [path]: [target] }), { path: there, text: "" }])).toEqual([
      `lib/protocol/log/${path}: imports upward from ${there}`,
    ]);
  });

  test.each([
    ["appending/log-writer.ts", "../lease/writer-lease.ts", "lease/writer-lease.ts"],
    ["appending/log-writer.ts", "./append-queue.ts", "appending/append-queue.ts"],
    ["log-appends.ts", "./upkeep/audit.ts", "upkeep/audit.ts"],
    ["log-appends.ts", "./log-reads.ts", "log-reads.ts"],
  ])("%s may import %s", (path, target, there) => {
    expect(upwardImports(graph({ [path]: [target], [there]: [] }))).toEqual([]);
  });

  test("the rest of the protocol lies below, but for what puts a region together", () => {
    const records = graph({ "records/record.ts": [] });
    const importing = (path: string) => ({ path, text: 'import type { A } from "./log/records/record.ts";' });
    expect(upwardImports([importing("lib/protocol/limits.ts"), ...records])).toEqual([
      "lib/protocol/limits.ts: imports upward from lib/protocol/log/records/record.ts",
    ]);
    expect(upwardImports([importing("lib/protocol/compose-region.ts"), ...records])).toEqual([]);
    expect(upwardImports([importing("lib/local.ts"), ...records])).toEqual([]);
  });

  test("the folders below the log lie one above the other, over the ground", () => {
    const text = "export const a = 1;\n";
    const above = (path: string, target: string) => [
      { path: `lib/protocol/${path}`, text: `import type { A } from "${target}";` },
      { path: resolve(`lib/protocol/${path}`, target), text },
    ];
    for (const [path, target] of [
      ["ports.ts", "./placement/placement.ts"],
      ["bookie/stored-bookie.ts", "../ledger/ledger-ports.ts"],
      ["reads/read-policy.ts", "../placement/registry.ts"],
      ["placement/registry.ts", "../ledger/ledger-ports.ts"],
      ["ledger/ledger-writer.ts", "../log/records/record.ts"],
    ] as const) {
      expect(upwardImports(above(path, target))).toHaveLength(1);
    }
    expect(upwardImports(above("placement/placement.ts", "../ports.ts"))).toEqual([]);
    expect(upwardImports(above("ledger/ledger-ports.ts", "../reads/read-policy.ts"))).toEqual([]);
  });

  test("a folder without a floor is refused", () => {
    expect(upwardImports(graph({ "elsewhere/thing.ts": [] }))).toEqual([
      "lib/protocol/log/elsewhere/thing.ts: its folder has no floor in the protocol",
    ]);
  });
});

describe("small files", () => {
  const small = (lines: number) => ({ path: "lib/small.ts", text: "export const a = 1;\n".repeat(lines) });
  const importing = (path: string) => ({ path, text: 'import { a } from "../lib/small.ts";' });

  test("under 30 lines, two files must import it", () => {
    expect(smallFiles([small(29), importing("lib/a.ts")])).toEqual([
      "lib/small.ts: 29 lines for one file to import; put it where it is needed",
      ...smallFiles([importing("lib/a.ts")]),
    ]);
    expect(smallFiles([small(29), importing("bin/a.ts"), importing("bin/b.ts")])).toEqual([]);
    expect(smallFiles([small(30), importing("bin/a.ts")])).toEqual([]);
  });

  test("an import by a test does not count", () => {
    expect(smallFiles([small(29), importing("bin/a.ts"), importing("test/a.test.ts")])).toHaveLength(1);
  });

  test("Lambda's entries and what lies outside lib may be small", () => {
    expect(smallFiles([{ path: "functions/read/handler.ts", text: "export const a = 1;\n" }])).toEqual([]);
  });
});
