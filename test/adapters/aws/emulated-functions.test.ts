/** The bundled functions on the emulator: two regions that append, forward, read, audit and take over. */
import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asReader, DeployedFunctions } from "./deployed-functions.ts";
import { overEmulator } from "./emulator.ts";

const [EAST, WEST] = ["us-east-1", "eu-west-1"];

await overEmulator((emulator) => {
  describe("two regions of deployed functions", () => {
    let functions: DeployedFunctions;
    beforeAll(async () => {
      functions = await DeployedFunctions.deploy(emulator);
    }, 180_000);
    afterAll(() => functions?.close());

    it("rule 21: before its bucket is marked a bookie says nothing; a deployment's step marks it", async () => {
      for (const bookie of functions.bookies) {
        const { id, region, functionName } = bookie;
        const event = { format: 1, bookie: id, operation: "read", ledgerId: 0, entryId: 0 };
        expect(await functions.invoke(region, functionName, event)).toMatchObject({
          failure: { code: "unavailable" },
        });
        expect(await deploymentStep(functions, region, functionName)).toMatchObject({ Status: "SUCCESS" });
        expect(await functions.invoke(region, functionName, event)).toEqual({
          format: 1,
          answer: { kind: "nothing" },
        });
        expect(await functions.invoke(region, asReader(bookie).functionName, event)).toEqual({
          format: 1,
          answer: { kind: "nothing" },
        });
      }
      for (const region of [EAST, WEST]) {
        expect(await deploymentStep(functions, region, "auditor")).toMatchObject({ Status: "SUCCESS" });
      }
    });

    it("a bookie's reading function answers reads, and refuses each call that writes", async () => {
      const [bookie] = functions.bookies;
      if (bookie === undefined) throw new Error("there are bookies");
      const { id, region, functionName } = asReader(bookie);
      const ask = (call: object) =>
        functions.invoke(region, functionName, { format: 1, bookie: id, ledgerId: 77, ...call });
      for (const call of writingCalls) {
        expect(await ask(call)).toMatchObject({
          failure: { code: "unavailable", sideEffects: "none", retryable: false },
        });
      }
      expect(await ask({ operation: "tail" })).toEqual({ format: 1, answer: { kind: "tail" } });
      const nothing = { format: 1, answer: { kind: "nothing" } };
      expect(await ask({ operation: "read", entryId: 0 })).toEqual(nothing);
      const [slots] = [await ask({ operation: "read-several", entryIds: [0] })];
      expect(slots).toMatchObject({ answer: { kind: "slots", slots: [{ kind: "nothing" }] } });
    });

    it("a log is created, appended to and read strongly in the other region", async () => {
      const created = await functions.http(EAST, "append", "PUT", "/v1/logs/orders%2Feu", {});
      expect(created).toMatchObject({ status: 201, body: { log: "orders/eu", warnings: expect.any(Array) } });
      const first = await append(EAST, ["one", "two"]);
      expect(first).toMatchObject({
        status: 200,
        body: { start: { seq_num: 0 }, last: { seq_num: 1 }, epoch: 1 },
      });
      const read = await functions.http(WEST, "read", "GET", "/v1/logs/orders%2Feu/records?seq_num=0");
      expect(read).toMatchObject({ status: 200, body: { tail: 2, up_to_date: true } });
      expect(bodiesOf(read)).toEqual(["one", "two"]);
    });

    it("an append in the other region is forwarded; both go on in one segment", async () => {
      const forwarded = await append(WEST, ["three"]);
      expect(forwarded).toMatchObject({ status: 200, body: { start: { seq_num: 2 }, epoch: 1 } });
      expect(forwarded.headers["log-owner"]).toContain(EAST);
      expect(await append(EAST, ["four"])).toMatchObject({
        status: 200,
        body: { start: { seq_num: 3 }, epoch: 1 },
      });
    });

    it("each function refuses what the other one serves, and unknown routes", async () => {
      expect(await functions.http(EAST, "read", "PUT", "/v1/logs/x", {})).toMatchObject({
        status: 400,
        body: { code: "invalid_request" },
      });
      expect(await functions.http(EAST, "append", "GET", "/v1/nothing")).toMatchObject({ status: 404 });
      expect(await functions.http(EAST, "append", "PUT", "/v1/logs/%2e%2e", {})).toMatchObject({
        status: 400,
      });
    });

    it("health is asked for, not assumed", async () => {
      expect(await functions.http(EAST, "read", "GET", "/v1/health")).toMatchObject({
        status: 200,
        body: { status: "ok", metadata_mode: "home", survivable_region_losses: 0 },
      });
    });

    it("the auditor's pass leaves a healthy log alone", async () => {
      expect(await functions.invoke(EAST, "auditor", { time: "now" })).toMatchObject({
        logs: 1,
        failures: 0,
      });
      expect(await append(EAST, ["five"])).toMatchObject({ body: { start: { seq_num: 4 }, epoch: 1 } });
    });

    it("when the owner's append function is gone the other region takes over, and nothing is lost", async () => {
      await functions.remove(EAST, "append");
      const taken = await untilServed(() => append(WEST, ["six"]));
      expect(taken).toMatchObject({ status: 200, body: { start: { seq_num: 5 }, epoch: 2 } });
      const read = await functions.http(EAST, "read", "GET", "/v1/logs/orders%2Feu/records?seq_num=0");
      expect(bodiesOf(read)).toEqual(["one", "two", "three", "four", "five", "six"]);
    });

    function append(region: string, bodies: readonly string[]) {
      const records = bodies.map((body) => ({ body }));
      return functions.http(region, "append", "POST", "/v1/logs/orders%2Feu/records", { records });
    }
  });
});

const writingCalls = [
  ...["fence", "forget"].map((operation) => ({ operation })),
  ...["recovery-read", "seal", "delete-entries"].map((operation) => ({ operation, entryId: 0 })),
];

function bodiesOf(reply: { readonly body: unknown }): string[] {
  return (reply.body as { records: { body: string }[] }).records.map(({ body }) => body);
}

/** A takeover waits for evidence; until then the append is refused without effect. */
async function untilServed<T extends { readonly status: number }>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const reply = await call();
    if (reply.status < 500 || attempt >= 10) return reply;
  }
}

/** Calls a function as CloudFormation does for a new custom resource; what it put to the address. */
async function deploymentStep(functions: DeployedFunctions, region: string, name: string): Promise<unknown> {
  let outcome: unknown;
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      outcome = JSON.parse(body);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  await functions.invoke(region, name, {
    RequestType: "Create",
    ResponseURL: `http://127.0.0.1:${port}/outcome`,
    StackId: "stack",
    RequestId: "request",
    LogicalResourceId: "Marker",
    ResourceProperties: {},
  });
  await new Promise((resolve) => server.close(resolve));
  return outcome;
}
