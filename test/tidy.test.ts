/** The repository's habits, checked on its own files. Each rule shows in test/tidy that it can fail. */
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { CPU_BOUND } from "./cpu-bound.ts";
import { clockReadings, type ReadsClocks } from "./tidy/clocks.ts";
import {
  decisionNumbers,
  documentFileNames,
  documentLinks,
  documentPaths,
  scriptPaths,
  whereIsWhat,
} from "./tidy/documents.ts";
import { documentedDirections, importDirections } from "./tidy/import-directions.ts";
import { importCircles, smallFiles, upwardImports } from "./tidy/import-graph.ts";
import { foreignDocuments, labelCitations, labelDefinitions } from "./tidy/labels.ts";
import { needlessExports } from "./tidy/needless-exports.ts";
import { paragraphLengths } from "./tidy/paragraphs.ts";
import { picturesInComments, picturesInDocuments } from "./tidy/pictures.ts";
import { protocolPurity, silentLibrary } from "./tidy/protocol-purity.ts";
import { deadFiles, type TestOnly } from "./tidy/reachability.ts";
import { type Rule, readRepository } from "./tidy/repository.ts";
import { exportShapes, fileNames } from "./tidy/shape.ts";
import { fileLengths, functionLengths, lineLengths, longestFiles } from "./tidy/sizes.ts";
import { foreignWords, machinePaths, unfinishedMarks } from "./tidy/wording.ts";

/** Files under lib that only tests reach: path, and why it stays. An entry no longer needed fails. */
const testOnly: TestOnly = {
  "lib/adapters/memory/memory-entry-store.ts": "storage of stories and contracts",
  "lib/adapters/memory/memory-metadata-store.ts": "metadata of stories and contracts",
  "lib/adapters/memory/memory-lease-store.ts": "leases of contracts",
  "lib/adapters/memory/memory-inbox-store.ts": "an inbox of stories and contracts",
  "lib/adapters/level/level-inbox-store.ts": "the laptop's inbox, which nothing posts to yet",
  "lib/adapters/aws/dynamodb-inbox-store.ts": "the functions' inbox, which nothing posts to yet",
};

/** What reads clocks itself under lib, instead of a Deadline or an Age, and why. */
const readsClocks: ReadsClocks = {
  "lib/protocol/deadline.ts": "is the judge",
  "lib/client/host-clocks.ts": "is a clock",
  "lib/adapters/node/system-clock.ts": "is a clock",
  "lib/protocol/reads/read-attempt.ts": "measures latency",
  "lib/protocol/reads/speculative-read.ts": "times the requests of one read",
  "lib/protocol/reads/read-policy.ts": "measures rates",
  "lib/protocol/ledger/write-back.ts": "measures how long an entry has been held",
  "lib/protocol/log/log-reads.ts": "measures latency",
  "lib/lambda": "measures latency",
  "lib/cli/progress.ts": "measures rates for people",
  "lib/cli/times.ts": "a person names a time by how long ago it was",
  "lib/cli/log-end.ts": "a person's patience",
  "lib/client/verify/verify.ts": "notes when attempts began and ended",
  "lib/adapters/aws/dynamodb-inbox-store.ts": "an item names the time at which it may go",
  "lib/protocol/log/inbox/decide-owed.ts":
    "a lease item names the time at which a ledger was kept on its list",
  "lib/protocol/log/lease": "a lease names the time at which it expires",
  "lib/protocol/log/upkeep": "items name the times at which they were made or deleted",
  "lib/protocol/ledger/end-ledger.ts": "a ledger names the time at which it was deleted",
  "lib/protocol/log/appending/active-segment.ts": "a segment names the time at which it was made",
};

const rules: Readonly<Record<string, Rule>> = {
  "imports go from roots to surface and adapters, to formats, to the protocol": importDirections,
  "the architecture shows who may import whom": documentedDirections,
  "no circle of imports in lib, types included": importCircles,
  "the folders of the log import downward only": upwardImports,
  "a small file serves more than one other": smallFiles,
  "lib/protocol sees no clock, chance, timer, host or locale": protocolPurity,
  "only lib/cli writes to the console": silentLibrary,
  "too late and too old are judged by Deadline and Age": (files) => clockReadings(files, readsClocks),
  "files are short": fileLengths,
  "functions are short": functionLengths,
  "lines are short": lineLengths,
  "names say what is in a file": fileNames,
  "no default exports, no barrels": exportShapes,
  "what lib exports is imported somewhere": needlessExports,
  "every file is needed by the product, or by tests for a stated reason": (files) =>
    deadFiles(files, testOnly),
  "no paths of one machine": machinePaths,
  "no marks of unfinished work": unfinishedMarks,
  "no words that are not about the product": foreignWords,
  "paragraphs of documents are short": paragraphLengths,
  "documents name their subjects and use terms": picturesInDocuments,
  "comments name their subjects and use terms": picturesInComments,
  "links in documents lead somewhere": documentLinks,
  "paths and scripts that documents name exist": documentPaths,
  "source files that documents name by the end of their path exist": documentFileNames,
  "a label is defined once, by the letters of its file": labelDefinitions,
  "what a label cites is defined": labelCitations,
  "no document is cited that is not in the repository": foreignDocuments,
  "what the architecture says is somewhere is there": whereIsWhat,
  "decisions are numbered and listed": decisionNumbers,
  "files that scripts name exist": scriptPaths,
};

describe("the repository", () => {
  const files = readRepository(fileURLToPath(new URL("..", import.meta.url)));

  test("is read whole", () => {
    const paths = new Set(files.map((file) => file.path));
    for (const path of ["package.json", "lib/protocol/ports.ts", "test/tidy.test.ts", ".ci/run"]) {
      expect(paths).toContain(path);
    }
  });

  test("its longest files are known", () => {
    const longest = longestFiles(files, 10);
    expect(longest).toHaveLength(10);
    // biome-ignore lint/suspicious/noConsole: shown on purpose, also while nothing is wrong.
    console.info(`The longest files of the product:\n${longest.join("\n")}`);
  });

  test.each(Object.entries(rules))("%s", CPU_BOUND, (_, rule) => {
    expect(rule(files)).toEqual([]);
  });
});
