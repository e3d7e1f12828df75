/** What a region works on at a time: the rest is refused or waits its turn, and health waits for none of it. */
import { setMaxListeners } from "node:events";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { RegionWork, workLimits } from "../../lib/api/region-work.ts";
import { bodyPace } from "../../lib/api/request-body.ts";
import { apiUnderTest, problemIn } from "./api-under-test.ts";

const { readsMax, readsWaitingMax, writesMax, largeBodyBytesMax } = workLimits;
const { smallBytes: smallBodyBytes } = bodyPace;

/** Shared by many reads here, whereas each request has a signal of its own. */
function manyCallers(): AbortController {
  const callers = new AbortController();
  setMaxListeners(0, callers.signal);
  return callers;
}

const forEver = manyCallers().signal;

/** So many times the same, and how to let all of them end. */
function held<T>(count: number, begin: (work: () => Promise<void>) => Promise<T>) {
  let end = () => {};
  let begun = 0;
  const until = new Promise<void>((resolve) => {
    end = resolve;
  });
  const work = () => {
    begun += 1;
    return until;
  };
  const all = Array.from({ length: count }, () => begin(work));
  return { all, end, begun: () => begun };
}

describe("reads", () => {
  test("so many are at work, so many wait, and the next is refused with Retry-After", async () => {
    const work = new RegionWork();
    const { send, undeclared } = apiUnderTest({}, [], work);
    await send("PUT", "/v1/logs/orders");
    const reads = held(readsMax + readsWaitingMax, (read) => work.read(forEver, read));
    expect(reads.begun()).toBe(readsMax);
    const refused = await send("GET", "/v1/logs/orders/records");
    expect(refused.headers.get("retry-after")).toBe("1");
    const problem = await problemIn(refused);
    expect(problem).toMatchObject({
      status: 429,
      code: "over_capacity",
      retryable: true,
      side_effects: "none",
    });
    for (const path of ["/v1/health", "/v1/openapi.json"]) expect((await send("GET", path)).status).toBe(200);
    reads.end();
    await Promise.all(reads.all);
    expect(reads.begun()).toBe(readsMax + readsWaitingMax);
    expect((await send("GET", "/v1/logs/orders/records")).status).toBe(200);
    expect(undeclared).toEqual([]);
  });

  test("one whose caller left while it waited is not begun, and its place is free", async () => {
    const work = new RegionWork();
    const atWork = held(readsMax, (read) => work.read(forEver, read));
    const callers = manyCallers();
    const waiting = held(readsWaitingMax, (read) => work.read(callers.signal, read));
    await expect(work.read(forEver, async () => 1)).rejects.toThrow(/reads/);
    callers.abort();
    await expect(Promise.all(waiting.all)).rejects.toThrow(/nobody waits/);
    const next = work.read(forEver, async () => "read");
    atWork.end();
    expect(await next).toBe("read");
    expect(waiting.begun()).toBe(0);
    await Promise.all(atWork.all);
    // All places are free again.
    const again = held(readsMax, (read) => work.read(forEver, read));
    expect(again.begun()).toBe(readsMax);
  });

  test("one that fails gives its place back", async () => {
    const work = new RegionWork();
    for (let read = 0; read < readsMax * 2; read++) {
      await expect(work.read(forEver, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    }
    expect(held(readsMax, (read) => work.read(forEver, read)).begun()).toBe(readsMax);
  });
});

describe("appends and changes", () => {
  test("beyond so many the next is refused", async () => {
    const work = new RegionWork();
    const writes = held(writesMax, (write) => work.write(write));
    expect(writes.begun()).toBe(writesMax);
    await expect(work.write(async () => {})).rejects.toMatchObject({ code: "over_capacity" });
    writes.end();
    await Promise.all(writes.all);
    await work.write(async () => {});
  });

  test("large bodies are counted until the answer, as far as they came, and small ones go on", async () => {
    const work = new RegionWork();
    const { send, undeclared } = apiUnderTest({}, [], work);
    await send("PUT", "/v1/logs/orders");
    const append = (body: string) => {
      const headers = { "content-type": "application/octet-stream" };
      return send("POST", "/v1/logs/orders/records", { body, headers });
    };
    const many = largeBodyBytesMax / smallBodyBytes / 2;
    const uploads = held(many, (until) =>
      work.write((onBytes) => {
        onBytes(smallBodyBytes);
        onBytes(3 * smallBodyBytes);
        return until();
      }),
    );
    const announced = held(10, (until) => work.write(until));
    const large = "a".repeat(smallBodyBytes + 1);
    expect(await problemIn(await append(large))).toMatchObject({ status: 429, code: "over_capacity" });
    expect((await append("a".repeat(smallBodyBytes))).status).toBe(200);
    uploads.end();
    await Promise.all(uploads.all);
    expect((await append(large)).status).toBe(200);
    announced.end();
    await Promise.all(announced.all);
    expect(undeclared).toEqual([]);
  });

  test("large uploads that stall keep others out for two periods at most, and small ones may take longer", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const { send, undeclared } = apiUnderTest({}, [], new RegionWork());
    await send("PUT", "/v1/logs/orders");
    const upload = (bytes: number) => {
      let source: ReadableStreamDefaultController<Uint8Array> | undefined;
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          source = controller;
          controller.enqueue(new Uint8Array(bytes).fill(97));
        },
      });
      const headers = { "content-type": "application/x-ndjson" };
      const init = { body, headers, duplex: "half" } as RequestInit;
      return { answer: send("POST", "/v1/logs/orders/records", init), source: () => source };
    };
    const each = 4 * 1024 * 1024;
    const stalled = Array.from({ length: largeBodyBytesMax / each }, () => upload(each));
    const small = upload(smallBodyBytes);
    const steady = upload(1);
    const large = () => upload(each).answer;
    await vi.waitFor(async () => expect((await large()).status).toBe(429));
    await vi.advanceTimersByTimeAsync(bodyPace.periodMs);
    expect((await large()).status).toBe(429);
    await vi.advanceTimersByTimeAsync(bodyPace.periodMs);
    for (const { answer } of stalled) {
      expect(await problemIn(await answer)).toMatchObject({
        status: 408,
        code: "request_timeout",
        side_effects: "none",
      });
    }
    for (let period = 0; period < 5; period++) {
      steady.source()?.enqueue(new Uint8Array(bodyPace.leastBytes).fill(97));
      await vi.advanceTimersByTimeAsync(bodyPace.periodMs);
    }
    for (const one of [small, steady]) {
      one.source()?.close();
      expect([200, 413]).toContain((await one.answer).status);
    }
    expect(undeclared).toEqual([]);
  });
});
