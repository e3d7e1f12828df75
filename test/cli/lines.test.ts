/** Lines and batches: every byte of the input, in records of one line each. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { batchesOf } from "../../lib/cli/batches.ts";
import { UsageError } from "../../lib/cli/exit-codes.ts";
import { linesOf, Sources } from "../../lib/cli/lines.ts";
import { ScratchDirectory } from "../adapters/scratch-directory.ts";

async function* chunked(...chunks: readonly Uint8Array[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

async function allLines(
  sources: readonly string[],
  stdin: AsyncIterable<Buffer>,
  max = 1_000,
): Promise<Buffer[]> {
  const lines: Buffer[] = [];
  using opened = await Sources.open(sources, stdin);
  for await (const group of linesOf(opened, max)) lines.push(...group);
  return lines;
}

const latin = (lines: readonly Buffer[]) => lines.map((line) => line.toString("latin1"));

describe("lines", () => {
  test.each([
    ["", []],
    ["\n", [""]],
    ["a\nb\n", ["a", "b"]],
    ["a\nb", ["a", "b"]],
    ["a\r\n\n\nb\n", ["a\r", "", "", "b"]],
    ["\xff\x00\n", ["\xff\x00"]],
  ])("of %j", async (input, wanted) => {
    expect(latin(await allLines(["-"], chunked(Buffer.from(input, "latin1"))))).toEqual(wanted);
  });

  test("are the same however the input is cut into chunks", async () => {
    const inputs = fc.array(
      fc.uint8Array({ maxLength: 6 }).map((bytes) => bytes.map((byte) => byte % 4 || 10)),
    );
    await fc.assert(
      fc.asyncProperty(inputs, async (chunks) => {
        const whole = Buffer.concat(chunks).toString("latin1");
        const wanted = whole.split("\n");
        if (wanted.at(-1) === "") wanted.pop();
        expect(latin(await allLines(["-"], chunked(...chunks)))).toEqual(wanted);
      }),
    );
  });

  test("of one file do not run into those of the next", async () => {
    await using scratch = await ScratchDirectory.make();
    const [one, two] = [join(scratch.path, "one"), join(scratch.path, "two")];
    await writeFile(one, "a\nb");
    await writeFile(two, "c\n");
    expect(latin(await allLines([one, "-", two], chunked(Buffer.from("x\n"))))).toEqual(["a", "b", "x", "c"]);
  });

  test("that are too long are refused with their number, before they are read whole", async () => {
    let chunks = 0;
    const endless = (async function* () {
      yield Buffer.from("short\n");
      for (;;) {
        chunks += 1;
        yield Buffer.alloc(100, "x");
      }
    })();
    await expect(allLines(["-"], endless, 1_000)).rejects.toThrow(
      /line 2 has 1100 bytes or more.*at most 1000/,
    );
    expect(chunks).toBe(11);
    await expect(allLines(["-"], chunked(Buffer.from("12345\n")), 4)).rejects.toThrow(UsageError);
  });

  test("of a file that is not there", async () => {
    await expect(allLines(["/no/such/file"], chunked())).rejects.toThrow(
      /\/no\/such\/file cannot be read: ENOENT/,
    );
  });
});

describe("batches", () => {
  const limits = { recordsMax: 3, bytesMax: 20, recordBytes: 2, lingerMs: 20 };
  const goOnSignal = new AbortController().signal;
  const group = (...lines: string[]) => lines.map((line) => Buffer.from(line));

  async function batched(groups: AsyncIterable<Buffer[]>): Promise<string[][]> {
    const batches: string[][] = [];
    for await (const batch of batchesOf(groups, limits, goOnSignal)) batches.push(latin(batch));
    return batches;
  }

  test("hold so many records and so many bytes at most; a larger record is alone", async () => {
    const groups = (async function* () {
      yield group("a", "b", "c", "d");
      yield group("e", "1234567", "1234567", "x".repeat(40), "f");
    })();
    expect(await batched(groups)).toEqual([
      ["a", "b", "c"],
      ["d", "e", "1234567"],
      ["1234567"],
      ["x".repeat(40)],
      ["f"],
    ]);
  });

  test("go out as they are when the input falls silent", async () => {
    let goOn = () => {};
    const silence = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const groups = (async function* () {
      yield group("a");
      await silence;
      yield group("b");
    })();
    const batches = batchesOf(groups, limits, goOnSignal);
    expect(latin((await batches.next()).value as Buffer[])).toEqual(["a"]);
    goOn();
    expect(latin((await batches.next()).value as Buffer[])).toEqual(["b"]);
    expect((await batches.next()).done).toBe(true);
  });

  test("end when the person at the terminal stops, although the input stays silent", async () => {
    const stop = new AbortController();
    const groups = (async function* (): AsyncGenerator<Buffer[]> {
      yield group("a");
      await new Promise(() => {});
    })();
    const batches = batchesOf(groups, limits, stop.signal);
    await batches.next();
    const next = expect(batches.next()).rejects.toThrow("interrupted by SIGINT");
    stop.abort();
    await next;
  });

  test("an input that fails is told after what came before it", async () => {
    const groups = (async function* (): AsyncGenerator<Buffer[]> {
      yield group("a", "b", "c", "d");
      throw new Error("unreadable");
    })();
    const batches = batchesOf(groups, limits, goOnSignal);
    expect(latin((await batches.next()).value as Buffer[])).toEqual(["a", "b", "c"]);
    await expect(batches.next()).rejects.toThrow("unreadable");
  });
});
