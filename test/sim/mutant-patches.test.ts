/** How a mutant finds what it changes: by the name of a declaration and by syntax, whatever the layout. */
import { describe, expect, test } from "vitest";
import { applyMutant } from "./mutants/apply-mutant.ts";
import { Declarations } from "./mutants/declarations.ts";
import type { Patch } from "./mutants/mutant.ts";

const QUEUE = `import { wait } from "../wait.ts";

export class Queue {
  readonly #waiting: string[] = [];

  get size(): number {
    return this.#waiting.length;
  }

  /** Waits. */
  async take(count: number, group: string[]): Promise<string[]> {
    if (count < 1 || (group.length === 0 && this.#waiting.length > 0)) return [];
    await wait(1_000); // once
    for (const one of group) {
      if (one === "a") this.#waiting.push(one);
      if (one === "b") this.#waiting.push(one);
    }
    return [...group, ...this.#waiting].filter(({ length }) => length > count);
  }
}

export const most = { kind: "most", size: 3 };
`;

const sources = new Declarations([
  { path: "lib/a/queue.ts", text: QUEUE },
  { path: "lib/wait.ts", text: "export async function wait(ms: number) { await sleep(ms); }" },
  { path: "lib/sleep.ts", text: "export const sleep = async (ms: number) => ms;" },
  { path: "lib/b/most.ts", text: "export const most = 1;\nexport const size = most + 1;" },
]);

const apply = (...patches: Patch[]) => applyMutant({ name: "m", patches }, sources);
const changed = (...patches: Patch[]) => apply(...patches).get("lib/a/queue.ts") ?? "";
const TAKE = "Queue.take";

describe("what is found", () => {
  test("an expression, whatever its layout, parentheses and trailing commas", () => {
    const from = "((count < 1)) || group.length === 0 && this.#waiting\n.length > 0";
    expect(changed({ in: TAKE, from, to: "count < 0 || false" })).toContain(
      "if ((count < 0 || false)) return [];",
    );
    expect(changed({ in: TAKE, from: "wait(1000,)", to: "undefined" })).toContain("await (undefined);");
  });

  test("statements in a row, past a comment, and none in their place", () => {
    const from = `await wait(1_000); for (const one of group) { if (one === 'a') this.#waiting.push(one);
      if (one === "b") this.#waiting.push(one); }`;
    expect(changed({ in: TAKE, from, to: "" })).toMatch(/return \[\];\s+return \[\.\.\.group/);
  });

  test("a statement that is all there is behind a condition", () => {
    const text = changed({ in: TAKE, from: "return [];", to: "group.pop(); return group;" });
    expect(text).toContain("{ group.pop(); return group; }");
  });

  test("a member of a class, a parameter, a property", () => {
    expect(
      changed({ in: "Queue", from: "readonly #waiting: string[] = [];", to: "#waiting = [];" }),
    ).toContain("\n  #waiting = [];");
    expect(changed({ in: TAKE, from: "count: number", to: "count = 7" })).toContain("take(count = 7, group");
    const file = "queue.ts";
    expect(changed({ in: "most", file, from: `kind: "most"`, to: "" })).toContain(
      "{ , size: 3 }".slice(0, 2),
    );
  });

  test("several pieces of one file, and of several", () => {
    const texts = apply(
      { in: TAKE, from: "count < 1", to: "true" },
      { in: "Queue.size", from: "this.#waiting.length", to: "0" },
      { in: "wait", from: "sleep(ms)", to: "sleep(0)" },
    );
    expect([...texts.keys()].sort()).toEqual(["lib/a/queue.ts", "lib/wait.ts"]);
    expect(texts.get("lib/a/queue.ts")).toContain("return (0);");
  });

  test("what the changed text needs is imported", () => {
    const text = changed({ in: TAKE, from: "await wait(1_000);", to: "await sleep(1);", uses: ["sleep"] });
    expect(text.split("\n")[0]).toBe(`import { sleep } from "../sleep.ts";`);
  });
});

describe("what is not found is said with what there is", () => {
  const refusal = (patch: Patch): string => {
    try {
      apply(patch);
    } catch (error) {
      return String(error);
    }
    return "applied";
  };

  test("twice", () => {
    const said = refusal({ in: TAKE, from: "this.#waiting.push(one)", to: "0" });
    expect(said).toContain("holds this 2 times, not once");
    expect(said).toContain("lib/a/queue.ts:15, lib/a/queue.ts:16");
  });

  test("not there: what is nearest", () => {
    const said = refusal({
      in: TAKE,
      from: "count <= 1 || (group.length === 0 && this.#waiting.length > 0)",
      to: "0",
    });
    expect(said).toContain("Queue.take (lib/a/queue.ts) does not hold");
    expect(said).toContain(
      "nearest, lib/a/queue.ts:12: count < 1 || (group.length === 0 && this.#waiting.length > 0",
    );
  });

  test("elsewhere: where", () => {
    expect(refusal({ in: TAKE, from: "sleep(ms)", to: "0" })).toContain("It stands in wait (lib/wait.ts:1).");
  });

  test("a name that nothing has: names like it, and where the piece stands", () => {
    const said = refusal({ in: "Queue.takes", from: "wait(1_000)", to: "0" });
    expect(said).toContain("lib declares no Queue.takes; near it are Queue.take,");
    expect(said).toContain("It stands in Queue.take (lib/a/queue.ts:13).");
  });

  test("a name that two files have", () => {
    expect(refusal({ in: "most", from: "3", to: "4" })).toContain(
      "declared in lib/a/queue.ts, lib/b/most.ts",
    );
    expect(refusal({ in: "most", file: "queue.ts", from: "3", to: "4" })).toBe("applied");
  });

  test("no code, or code that does not fit", () => {
    expect(refusal({ in: TAKE, from: "if (", to: "" })).toContain("no piece of code: if (");
    expect(refusal({ in: TAKE, from: "count < 1", to: "" })).toContain(
      "takes an expression's place, but is none",
    );
    expect(refusal({ in: TAKE, from: "return [];", to: "return (;" })).toContain("does not parse");
    expect(refusal({ in: TAKE, from: "return [];", to: "", uses: ["nothing"] })).toContain(
      "no file declares nothing",
    );
  });
});
