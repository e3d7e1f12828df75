/** Labels of invariants: each rule flags a small bad example and lets its good neighbour pass. */
import { describe, expect, test } from "vitest";
import { foreignDocuments, labelCitations, labelDefinitions } from "./labels.ts";

const file = (text: string, path = "lib/protocol/a.ts") => ({ path, text });
const header = (...lines: string[]) => `/**\n${lines.map((line) => ` * ${line}\n`).join("")} */\n`;
const log = file(header("One log's writer.", "", "LW1 Nothing is lost.", "LW2 Nor doubled."));

describe("definitions", () => {
  test("one label, one file", () => {
    const again = file(header("Another.", "", "LW2 Something else."), "lib/protocol/b.ts");
    expect(labelDefinitions([log])).toEqual([]);
    expect(labelDefinitions([log, again])).toEqual([
      "lib/protocol/b.ts:4: LW2 is defined in lib/protocol/a.ts:5 already",
    ]);
  });

  test("one capital does not name a file", () => {
    expect(labelDefinitions([file(header("One.", "", "N1 Nothing is lost."))])).toEqual([
      "lib/protocol/a.ts:4: N1 has one capital; two or three name its file",
    ]);
  });

  test("only a header defines; a line that happens to begin with a story is none", () => {
    expect(labelDefinitions([log, file(`const a = 1;\n${header("LW1 is kept here.")}`)])).toEqual([]);
    expect(labelDefinitions([file(header("See the stories", "S01 and S03."))])).toEqual([]);
  });
});

describe("citations", () => {
  test.each([
    "// LW3",
    'assert(true, "XY1: never");',
    'test("LW9, LW1: both", () => {});',
    "/** By (QQ12). */",
  ])("%s cites what is defined nowhere", (text) => {
    expect(labelCitations([log, file(text, "test/a.test.ts")])).toEqual([
      expect.stringMatching(/^test\/a\.test\.ts:1: [A-Z]+\d+ is defined nowhere$/),
    ]);
  });

  test("documents cite as well", () => {
    expect(labelCitations([log, file("Kept by LW1.\nAnd by LW7.", "docs/PROTOCOL.md")])).toEqual([
      "docs/PROTOCOL.md:2: LW7 is defined nowhere",
    ]);
  });

  test.each([
    ...[
      "// LW1, LW2: as above",
      "// rule 14, story T16, card H05b",
      "const U32 = 2 ** 32;",
      'slots("B0 A1")',
    ],
    ...["EC2", "ES2024", "SHA-256", "AWS::S3::Bucket", "use1-az4", "%E6%97%A5", "%AB12"],
  ])("%s is fine", (text) => {
    expect(labelCitations([log, file(text, "lib/b.ts")])).toEqual([]);
  });
});

describe("documents", () => {
  test.each(["(design section 3)", "as section 2.3 says", "placement sections 2.1 to 2.3", "see design.md"])(
    "%s is not in the repository",
    (text) => {
      expect(foreignDocuments([file(`// ${text}`)])).toHaveLength(1);
    },
  );

  test.each(["rule 14", "docs/PROTOCOL.md", "RFC 9457, section 3", "the section of a file"])(
    "%s is fine",
    (text) => {
      expect(foreignDocuments([file(`// ${text}`)])).toEqual([]);
    },
  );
});
