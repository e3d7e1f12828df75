/** Appends whose answers are lost, in every way: each batch is in the log once (OA1 to OA3). */
import { describe, expect, test } from "vitest";
import { BatchInDoubtError } from "../../lib/client/batch-outcome.ts";
import { type AppendMode, OrderedAppend, PlaceTakenError } from "../../lib/client/ordered-append.ts";
import { FencelineError } from "../../lib/protocol/errors.ts";
import { type AppendFault, appendFaults, FaultyEndpoint } from "./faulty-endpoint.ts";

const bytes = (...bodies: string[]) => bodies.map((body) => Buffer.from(body, "latin1"));
const text = (...bodies: string[]) => ({ records: bodies.map((body) => ({ body })) });

async function endpointWithLog() {
  const endpoint = await FaultyEndpoint.open();
  await endpoint.client().createLog("orders", {});
  return endpoint;
}

function appendTo(endpoint: FaultyEndpoint, mode: AppendMode, at: number, patienceMs = 5_000) {
  return new OrderedAppend({
    client: endpoint.client(),
    log: "orders",
    mode,
    at,
    patienceMs,
    pauseMs: 1,
  });
}

describe.each(["exclusive", "resume"] as const)("%s", (mode) => {
  test.each(appendFaults)("%s: each batch once, in order", async (_, faults) => {
    await using endpoint = await endpointWithLog();
    const append = appendTo(endpoint, mode, 0);
    await append.append(bytes("a", "b"));
    endpoint.faults.push(...faults);
    await append.append(bytes("c"));
    await append.append(bytes("d", "\xff\x00"));
    expect(endpoint.bodies("orders")).toEqual(["a", "b", "c", "d", "\xff\x00"]);
    expect(append.next).toBe(5);
  });

  test("an answer lost: the log says that the batch is there, and nothing is read (OA1)", async () => {
    await using endpoint = await endpointWithLog();
    endpoint.faults.push("answer lost");
    endpoint.logs.read = async () => {
      throw new FencelineError("unavailable", { message: "no", sideEffects: "none" });
    };
    const outcome = await appendTo(endpoint, mode, 0, 300).append(bytes("a"));
    expect(outcome).toMatchObject({ kind: "appended", ack: { duplicate: true, end: 1 } });
    expect(endpoint.bodies("orders")).toEqual(["a"]);
  });

  test("every request is conditional (OA1)", async () => {
    await using endpoint = await endpointWithLog();
    const append = appendTo(endpoint, mode, 0);
    await append.append(bytes("a", "b"));
    await append.append(bytes("c"));
    expect(endpoint.requests.map((body) => JSON.parse(body).match_seq_num)).toEqual([0, 2]);
  });

  test("an unknown outcome of the server is found out like a lost answer", async () => {
    await using endpoint = await endpointWithLog();
    const append = appendTo(endpoint, mode, 0);
    endpoint.logs.failure = new FencelineError("unknown_outcome", { message: "who knows" });
    await append.append(bytes("a"));
    expect(endpoint.bodies("orders")).toEqual(["a"]);
  });

  test("patience ends: in doubt if it may be there, else the error itself", async () => {
    await using endpoint = await endpointWithLog();
    const append = appendTo(endpoint, mode, 0, 300);
    endpoint.faults.push(...Array<AppendFault>(20).fill("request lost"));
    await expect(append.append(bytes("a"))).rejects.toMatchObject({
      name: "BatchInDoubtError",
      at: 0,
      count: 1,
    });
    endpoint.faults.length = 0;
    endpoint.logs.failure = new FencelineError("log_not_found", { message: "gone" });
    await expect(appendTo(endpoint, mode, 0).append(bytes("a"))).rejects.toMatchObject({
      name: "ProblemError",
    });
    expect(endpoint.bodies("orders")).toEqual([]);
  });
});

describe("another writer at the same place", () => {
  test("exclusive: equal records of another's are no win, whatever became of one's own attempt (OA2)", async () => {
    await using endpoint = await endpointWithLog();
    endpoint.faults.push("late", "answer lost");
    const append = appendTo(endpoint, "exclusive", 0);
    const [one, other] = await Promise.allSettled([
      append.append(bytes("lock")),
      appendTo(endpoint, "exclusive", 0).append(bytes("lock")),
    ]);
    const kinds = [one, other].map(({ status }) => status).sort();
    expect(kinds).toEqual(["fulfilled", "rejected"]);
    const lost = [one, other].find((outcome) => outcome.status === "rejected");
    expect(lost?.reason).toBeInstanceOf(PlaceTakenError);
    expect(endpoint.bodies("orders")).toEqual(["lock"]);
  });

  test("all attempts at a batch carry one sender, and the next batch its next seq", async () => {
    await using endpoint = await endpointWithLog();
    const append = appendTo(endpoint, "exclusive", 0);
    endpoint.faults.push("request lost", "answer lost");
    await append.append(bytes("a"));
    await append.append(bytes("b"));
    const senders = endpoint.requests.map((body) => JSON.parse(body).producer);
    expect(senders.map(({ seq }) => seq)).toEqual([0, 0, 0, 1]);
    expect(new Set(senders.map(({ id }) => id)).size).toBe(1);
  });

  test("a batch whose place is taken leaves its seq to the next one", async () => {
    await using endpoint = await endpointWithLog();
    const append = appendTo(endpoint, "resume", 0);
    await endpoint.client().append("orders", text("a"), "utf8");
    endpoint.faults.push("request lost");
    await append.append(bytes("a", "b"));
    await append.append(bytes("c"));
    expect(endpoint.bodies("orders")).toEqual(["a", "b", "c"]);
    expect(JSON.parse(endpoint.requests.at(-1) ?? "").producer).toMatchObject({ epoch: 0, seq: 1 });
  });

  test("a log that ends before the place of a batch in doubt leaves it in doubt: a copy may get there", async () => {
    await using endpoint = await endpointWithLog();
    endpoint.faults.push("request lost");
    const failure = appendTo(endpoint, "exclusive", 5, 300).append(bytes("a"));
    await expect(failure).rejects.toMatchObject({ name: "BatchInDoubtError", at: 5, count: 1 });
  });

  test("exclusive: stops, and appends nothing", async () => {
    await using endpoint = await endpointWithLog();
    await endpoint.client().append("orders", text("x"), "utf8");
    const append = appendTo(endpoint, "exclusive", 0);
    await expect(append.append(bytes("x"))).rejects.toThrow(PlaceTakenError);
    endpoint.faults.push("request lost");
    await expect(appendTo(endpoint, "exclusive", 0).append(bytes("a"))).rejects.toThrow(
      /from seq_num 0 on was not compared: log orders already ends at 1/,
    );
    expect(endpoint.bodies("orders")).toEqual(["x"]);
  });

  test("a log that ends before the place is no place", async () => {
    await using endpoint = await endpointWithLog();
    await expect(appendTo(endpoint, "exclusive", 5).append(bytes("a"))).rejects.toThrow(
      /ends at 0, before seq_num 5/,
    );
  });
});

describe("resume", () => {
  test("skips what is in its place, wherever the earlier run stopped", async () => {
    const all = Array.from({ length: 7 }, (_, index) => `line ${index}`);
    for (let present = 0; present <= all.length; present++) {
      await using endpoint = await endpointWithLog();
      if (present > 0) await endpoint.client().append("orders", text(...all.slice(0, present)), "utf8");
      const append = appendTo(endpoint, "resume", 0);
      append.presentUpTo(present);
      const first = await append.append(bytes(...all.slice(0, 4)));
      await append.append(bytes(...all.slice(4)));
      expect(first.kind).toBe(present >= 4 ? "present" : "appended");
      expect(endpoint.bodies("orders")).toEqual(all);
    }
  });

  test("meets the late batch of the run that was killed, also with other bounds", async () => {
    await using endpoint = await endpointWithLog();
    const append = appendTo(endpoint, "resume", 0);
    await endpoint.client().append("orders", { ...text("a", "b", "c"), match_seq_num: 0 }, "utf8");
    await append.append(bytes("a", "b"));
    await append.append(bytes("c", "d"));
    expect(endpoint.bodies("orders")).toEqual(["a", "b", "c", "d"]);
  });

  test("stops where the log holds something else", async () => {
    await using endpoint = await endpointWithLog();
    await endpoint.client().append("orders", text("a", "X"), "utf8");
    const append = appendTo(endpoint, "resume", 0);
    append.presentUpTo(2);
    await expect(append.append(bytes("a", "b", "c"))).rejects.toThrow(
      /holds something else at seq_num 1, where record no. 2 of the input belongs \(no. 1 at seq_num 0\)/,
    );
    expect(endpoint.bodies("orders")).toEqual(["a", "X"]);
  });
});

test("BatchInDoubtError names the batch", () => {
  expect(new BatchInDoubtError(7, 3, new Error("silence")).message).toBe(
    "3 records at seq_num 7 may be in the log or not: silence",
  );
  expect(new BatchInDoubtError(undefined, 3, new Error("silence")).message).toBe(
    "3 records may be in the log or not: silence",
  );
});
