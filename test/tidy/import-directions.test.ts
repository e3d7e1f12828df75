import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { documentedDirections, importDirections } from "./import-directions.ts";
import { readRepository } from "./repository.ts";

function judge(path: string, ...lines: string[]): string[] {
  return importDirections([{ path, text: lines.join("\n") }]);
}

test.each([
  ["lib/protocol/log/records/record.ts", 'import { encode } from "../../../formats/entry-format.ts";'],
  ["lib/protocol/ids.ts", 'import { createHash } from "node:crypto";'],
  ["lib/protocol/ids.ts", 'import { z } from "zod";'],
  ["lib/protocol/ids.ts", 'export { z } from "zod";'],
  ["lib/protocol/ids.ts", 'export * from "zod";'],
  ["lib/protocol/ids.ts", 'const later = import("zod");'],
  ["lib/protocol/ids.ts", 'export type Parsed = import("zod").ZodType;'],
  ["lib/protocol/ids.ts", 'import "../local/embedded-cloud.ts";'],
  ["lib/formats/entry-format.ts", 'import { Buffer } from "node:buffer";'],
  ["lib/adapters/memory/store.ts", 'import { LevelStore } from "../level/store.ts";'],
  ["lib/adapters/memory/store.ts", 'import { readFile } from "node:fs/promises";'],
  ["lib/adapters/level/store.ts", 'import { S3Client } from "@aws-sdk/client-s3";'],
  ["lib/api/routes.ts", 'import { MemoryStore } from "../adapters/memory/store.ts";'],
  ["lib/api/routes.ts", 'import { serve } from "@hono/node-server";'],
  ["lib/client/client.ts", 'import { routes } from "../api/routes.ts";'],
  ["lib/client/client.ts", 'import { type Route } from "../api/routes.ts";'],
  ["lib/infra/bookie.ts", 'import { LedgerWriter } from "../protocol/ledger/ledger-writer.ts";'],
  ["lib/local/cloud.ts", 'import { run } from "../cli/run.ts";'],
  ["lib/local/cloud.ts", 'import { S3Client } from "@aws-sdk/client-s3";'],
  ["lib/cli/append.ts", 'import { LogWriter } from "../protocol/log/log-writer.ts";'],
  ["functions/append/handler.ts", 'import { handler } from "../read/handler.ts";'],
  ["functions/append/handler.ts", 'import { Bookie } from "../../lib/infra/bookie.ts";'],
  ["functions/append/handler.ts", 'import { routes } from "../../lib/api/routes.ts";'],
  [
    "lib/lambda/append-function.ts",
    'import { LevelEntryStore } from "../adapters/level/level-entry-store.ts";',
  ],
  ["lib/bundles/function-bundles.ts", 'import { handler } from "../../functions/read/handler.ts";'],
  ["bin/fenceline.ts", 'import { world } from "../test/sim/world.ts";'],
  ["lib/elsewhere/thing.ts", "export const one = 1;"],
])("%s may not: %s", (path, line) => {
  expect(judge(path, "// a line before", line)).toHaveLength(1);
});

test.each([
  ["lib/protocol/log/records/record.ts", 'import type { EntryId } from "../ids.ts";'],
  ["lib/formats/entry-format.ts", 'import type { EntryHeader } from "../protocol/ports.ts";'],
  ["lib/adapters/level/store.ts", 'import { ClassicLevel } from "classic-level";'],
  ["lib/adapters/level/store.ts", 'import { open } from "./group-commit.ts";'],
  ["lib/adapters/aws/store.ts", 'import { S3Client } from "@aws-sdk/client-s3";'],
  ["lib/api/routes.ts", 'import { stream } from "hono/streaming";'],
  ["lib/client/client.ts", 'import type { Route } from "../api/routes.ts";'],
  ["lib/local/cloud.ts", 'import { MemoryStore } from "../adapters/memory/store.ts";'],
  ["lib/cli/append.ts", 'import { Command } from "commander";'],
  ["functions/append/handler.ts", 'import { AppendFunction } from "../../lib/lambda/append-function.ts";'],
  ["lib/lambda/append-function.ts", 'import { createApi } from "../api/api.ts";'],
  ["functions/append/handler.ts", 'import { environment } from "./environment.ts";'],
  ["bin/fenceline.ts", 'import { run } from "../lib/cli/run.ts";'],
  ["test/log/log.test.ts", 'import { LogWriter } from "../../lib/protocol/log/appending/log-writer.ts";'],
])("%s may: %s", (path, line) => {
  expect(judge(path, line)).toEqual([]);
});

test("a finding names file, line and import", () => {
  expect(judge("lib/protocol/ids.ts", "", 'import { z } from "zod";')).toEqual([
    "lib/protocol/ids.ts:2: lib/protocol may not import zod",
  ]);
});

test("a file that does not parse is refused, not passed over", () => {
  expect(() => judge("lib/protocol/ids.ts", "const = ;")).toThrow("does not parse");
});

describe("the architecture's table of folders", () => {
  const path = "docs/ARCHITECTURE.md";
  const page = readRepository(fileURLToPath(new URL("../..", import.meta.url))).find(
    (file) => file.path === path,
  );
  const judgePage = (text: string) => documentedDirections([{ path, text }]);
  const text = page?.text ?? "";
  const row = "| `lib/formats` ";

  test("is the one that is enforced", () => {
    expect(judgePage(text)).toEqual([]);
  });

  test.each([
    ["allows more", (line: string) => line.replace(/ \|$/, ", `zod` |")],
    ["names another folder", (line: string) => line.replace("lib/formats", "lib/console")],
  ])("is refused if a row %s", (_, change) => {
    const lines = text.split("\n");
    const broken = lines.map((line) => (line.startsWith(row) ? change(line) : line)).join("\n");
    expect(judgePage(broken)).toEqual([expect.stringContaining('enforced is "`lib/formats` may import')]);
  });

  test("is refused if a row, or all of it, is missing", () => {
    const without = text.split("\n").filter((line) => !line.startsWith("| `test`"));
    expect(judgePage(without.join("\n"))).toEqual([expect.stringContaining("`test` may import anything")]);
    expect(documentedDirections([])).toHaveLength(1);
  });
});
