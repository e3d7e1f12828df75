/** A producer over HTTP whose answers are lost, in every way: each batch is in the log once (LP1 to LP4). */
import { describe, expect, test, vi } from "vitest";
import { LogProducer } from "../../lib/client/log-producer.ts";
import { FencelineError } from "../../lib/protocol/errors.ts";
import { logName } from "../../lib/protocol/ids.ts";
import { ProducerTable } from "../../lib/protocol/log/producers/producer-table.ts";
import { appendLimits } from "../../lib/protocol/log/records/append-limits.ts";
import { type AppendFault, appendFaults, FaultyEndpoint } from "./faulty-endpoint.ts";

const bytes = (...bodies: string[]) => bodies.map((body) => Buffer.from(body, "latin1"));

async function endpointWithLog() {
  const endpoint = await FaultyEndpoint.open();
  await endpoint.client().createLog("orders", {});
  return endpoint;
}

const producerOf = (endpoint: FaultyEndpoint, patienceMs = 5_000, id = "mine") =>
  new LogProducer({ client: endpoint.client(), log: "orders", id, patienceMs, pauseMs: 1 });

function forget(endpoint: FaultyEndpoint): void {
  const name = logName("orders");
  const log = endpoint.logs.logs.get(name);
  if (log !== undefined) endpoint.logs.logs.set(name, { ...log, producers: new ProducerTable() });
}

const stamps = (endpoint: FaultyEndpoint) =>
  endpoint.requests.map((body) => {
    const { producer } = JSON.parse(body);
    return [producer.epoch, producer.seq];
  });

describe("a batch is in the log once, in the order of the calls (LP1)", () => {
  test.each(appendFaults)("%s", async (_, faults) => {
    await using endpoint = await endpointWithLog();
    const producer = producerOf(endpoint);
    await producer.append(bytes("a", "b"));
    await endpoint.client().append("orders", { records: [{ body: "somebody's" }] }, "utf8");
    endpoint.faults.push(...faults);
    const rest = [producer.append(bytes("c")), producer.append(bytes("d", "\xff\x00"))];
    await Promise.all(rest);
    expect(endpoint.bodies("orders")).toEqual(["a", "b", "somebody's", "c", "d", "\xff\x00"]);
    expect(endpoint.logs.logs.get(logName("orders"))?.records.map(({ headers }) => headers.length)).toEqual(
      Array(6).fill(0),
    );
  });

  test("an unknown outcome of the server is found out like a lost answer", async () => {
    await using endpoint = await endpointWithLog();
    endpoint.logs.failure = new FencelineError("unknown_outcome", { message: "who knows" });
    await producerOf(endpoint).append(bytes("a"));
    expect(endpoint.bodies("orders")).toEqual(["a"]);
  });

  test("an equal batch of another producer is another batch", async () => {
    await using endpoint = await endpointWithLog();
    await producerOf(endpoint, 5_000, "theirs").append(bytes("tick"));
    endpoint.faults.push("answer lost");
    const outcome = await producerOf(endpoint).append(bytes("tick"));
    expect(outcome).toMatchObject({ kind: "appended", ack: { start: { seq_num: 1 }, duplicate: true } });
    expect(endpoint.bodies("orders")).toEqual(["tick", "tick"]);
  });
});

test("a sealed log that rules the batch out ends the doubt: it is certainly not there (LP2)", async () => {
  await using endpoint = await endpointWithLog();
  for (const [earlier, expected] of [
    ["not_recorded", { code: "log_sealed", sideEffects: "none" }],
    ["not_remembered", { name: "BatchInDoubtError", message: expect.stringMatching(/: sealed; as it was$/) }],
  ] as const) {
    endpoint.faults.push("request lost");
    endpoint.logs.failure = new FencelineError("log_sealed", {
      message: "sealed",
      details: { earlier_attempts: earlier, earlier_attempts_detail: "as it was" },
    });
    const producer = producerOf(endpoint, 5_000, earlier);
    await expect(producer.append(bytes("a"))).rejects.toMatchObject(expected);
  }
});

test("patience ends in doubt: the next batch begins an epoch, and a late copy is refused (LP3)", async () => {
  await using endpoint = await endpointWithLog();
  const producer = producerOf(endpoint, 200);
  await producer.append(bytes("a"));
  endpoint.faults.push(...Array<AppendFault>(40).fill("request lost"));
  await expect(producer.append(bytes("b"))).rejects.toMatchObject({ name: "BatchInDoubtError", count: 1 });
  endpoint.faults.length = 0;
  await producer.append(bytes("c"));
  expect(stamps(endpoint).at(-1)).toEqual([1, 0]);
  const late = { records: [{ body: "b" }], producer: { id: "mine", epoch: 0, seq: 1 } };
  await expect(endpoint.client().append("orders", late, "utf8")).rejects.toMatchObject({
    code: "producer_fenced",
    problem: { status: 403, current_epoch: 1 },
  });
  expect(endpoint.bodies("orders")).toEqual(["a", "c"]);
});

test("an error without effect uses up no seq (LP2)", async () => {
  await using endpoint = await endpointWithLog();
  const producer = producerOf(endpoint);
  endpoint.logs.failure = new FencelineError("log_sealed", { message: "it ended" });
  await expect(producer.append(bytes("a"))).rejects.toMatchObject({ code: "log_sealed" });
  await producer.append(bytes("b"));
  expect(stamps(endpoint)).toEqual([
    [0, 0],
    [0, 0],
  ]);
});

test("a producer that the log forgot begins anew, or stays in doubt if it is (LP4)", async () => {
  await using endpoint = await endpointWithLog();
  const producer = producerOf(endpoint, 300);
  await producer.append(bytes("a"));
  forget(endpoint);
  await producer.append(bytes("b"));
  expect(stamps(endpoint).slice(1)).toEqual([
    [0, 1],
    [1, 0],
  ]);
  const late = { records: [{ body: "late" }], producer: { id: "mine", epoch: 0, seq: 1 } };
  await expect(endpoint.client().append("orders", late, "utf8")).rejects.toMatchObject({
    code: "producer_fenced",
  });
  endpoint.faults.push("request lost");
  forget(endpoint);
  await expect(producer.append(bytes("c"))).rejects.toThrow("may be in the log or not");
  expect(endpoint.bodies("orders")).toEqual(["a", "b"]);
});

test.each(["now", "performance"] as const)(
  "a first batch in doubt is not sent again once the log may have forgotten it (LP4): %s goes on in a sleep",
  async (clock) => {
    await using endpoint = await endpointWithLog();
    endpoint.faults.push("answer lost");
    const onRetry = () => {
      // The host sleeps through the pause between two attempts.
      const [host, name] = clock === "now" ? ([Date, "now"] as const) : ([performance, "now"] as const);
      const awake = host.now.bind(host);
      vi.spyOn(host, name).mockImplementation(() => awake() + appendLimits.producerWindowMs);
      forget(endpoint);
    };
    const fields = { client: endpoint.client(), log: "orders", id: "mine", pauseMs: 1, onRetry };
    const producer = new LogProducer({ ...fields, patienceMs: 2 * appendLimits.producerWindowMs });
    await expect(producer.append(bytes("a"))).rejects.toMatchObject({ name: "BatchInDoubtError" });
    expect(endpoint.bodies("orders")).toEqual(["a"]);
    await producer.append(bytes("b"));
    expect(stamps(endpoint).at(-1)).toEqual([1, 0]);
  },
);
