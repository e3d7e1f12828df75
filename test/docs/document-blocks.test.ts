/** Blocks are found as they stand, and an output that differs is no match. */
import { describe, expect, test } from "vitest";
import { commandBlocks, filledIn, matchOutput } from "./document-blocks.ts";

const page = [
  "# A page",
  "",
  "```sh",
  "one --long \\",
  "    --option   # exit code 3",
  "two # a comment",
  "```",
  "",
  "```text",
  "<id> is there",
  "```",
  "",
  "<!-- not run: needs an account -->",
  "```sh",
  "three",
  "```",
  "",
  "Prose.",
  "",
  "```json",
  "{}",
  "```",
].join("\n");

test("a block has its commands, its output and why it is not run", () => {
  expect(commandBlocks(page)).toEqual([
    {
      line: 3,
      commands: [
        { text: "one --long \\\n    --option   # exit code 3", exitCode: 3 },
        { text: "two # a comment", exitCode: 0 },
      ],
      output: { language: "text", text: "<id> is there\n" },
    },
    { line: 13, commands: [{ text: "three", exitCode: 0 }], notRun: "needs an account" },
  ]);
});

test("placeholders of a command are what was printed for them, and those of its comment are left", () => {
  expect(filledIn("show <id>  # <id>: a number", new Map([["id", "7"]]))).toBe("show 7  # <id>: a number");
  expect(() => filledIn("show <id>", new Map())).toThrow("no output before");
});

describe("an output in text", () => {
  const match = (shown: string, printed: string) => matchOutput({ language: "text", text: shown }, printed);

  test("is the same but for placeholders, which are one word each and the same one twice", () => {
    expect(match("a <id> b\n", "a 7 b\n")).toEqual(new Map([["id", "7"]]));
    expect(match("a <id> b\n", "a 7 8 b\n")).toBeUndefined();
    expect(match("<id> <id>\n", "7 8\n")).toBeUndefined();
    expect(match("a.c\n", "abc\n")).toBeUndefined();
  });

  test("may leave lines out where it says so, and nowhere else", () => {
    expect(match("...\nend\n", "one\ntwo\nend\n")).toEqual(new Map());
    expect(match("one\n...\n", "one\ntwo\n")).toEqual(new Map());
    expect(match("end\n", "one\nend\n")).toBeUndefined();
    expect(match("one\n", "one\ntwo\n")).toBeUndefined();
  });
});

describe("an output in JSON", () => {
  const match = (shown: string, printed: string) => matchOutput({ language: "json", text: shown }, printed);

  test("is the same but for white space and placeholders, which end with their member", () => {
    expect(match('{ "a": <n>, "b": "<x>" }', '{"a":7,"b":"y"}')).toBeDefined();
    expect(match('{"in": [<list>], "b": 1}', '{"in":["x","y"],"b":1}')).toBeDefined();
    expect(match('{ "a": <n>, "b": 2 }', '{"a":7,"b":3}')).toBeUndefined();
    expect(match('{"a": <n>}', '{"a":7,"b":{"c":1}}')).toBeUndefined();
  });
});
