/** What one region's functions ask of another's `append` function: there and back as values. */
import { describe, expect, it } from "vitest";
import {
  type AppendCall,
  decodeAppendCall,
  encodeAppendCall,
} from "../../../lib/adapters/aws/append-call.ts";
import { FORWARD_WAITS, lambdaClient } from "../../../lib/adapters/aws/aws-clients.ts";
import { replyTo } from "../../../lib/adapters/aws/call-envelope.ts";
import { LambdaAppends, lambdaSettler } from "../../../lib/adapters/aws/lambda-appends.ts";
import { encodeOwnership } from "../../../lib/adapters/aws/owner-call.ts";
import { encodeAck } from "../../../lib/formats/append-format.ts";
import { CallDenied, FencelineError } from "../../../lib/protocol/errors.ts";
import {
  entryId,
  logIncarnation,
  logName,
  region,
  segmentNumber,
  seqNum,
} from "../../../lib/protocol/ids.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import type { AppendAck, AppendRequest } from "../../../lib/protocol/log/operations.ts";
import {
  dynamoError,
  inOrder,
  json,
  networkError,
  type Script,
  ScriptedService,
  timeout,
} from "./scripted-service.ts";

const [EAST, WEST] = [region("us-east-1"), region("us-west-2")];
const LOG = logName("orders/\u{1f600}");

const request: AppendRequest = {
  log: LOG,
  records: [
    { body: Uint8Array.of(0, 255, 128), headers: [[Uint8Array.of(1), new Uint8Array(0)]], timestampMs: 12 },
    { body: new Uint8Array(0), headers: [] },
  ],
  matchSeqNum: seqNum(4),
  route: "refuse",
  timeoutMs: 900,
};
const position = (number: number) => ({
  seqNum: seqNum(number),
  dlsn: { segment: segmentNumber(2), entry: entryId(3), slot: number },
  timestampMs: 7.5,
});
const ack: AppendAck = {
  start: position(4),
  last: position(5),
  tail: seqNum(6),
  durableIn: [EAST, WEST],
  epoch: segmentNumber(2),
  ownerRegion: WEST,
  duplicate: true,
};
const notOwner = new FencelineError("not_owner", {
  message: "another owns it",
  sideEffects: "none",
  details: { owner: "eu-west-1", cannot_own: true },
});

function over(script: Script) {
  const service = new ScriptedService(script);
  const client = lambdaClient(WEST, FORWARD_WAITS, service.config);
  const appends = new LambdaAppends((one) =>
    one === WEST || one === EAST ? { client, name: `append-${one}`, region: one } : undefined,
  );
  return { service, appends };
}

/** A function that answers so. */
const answering =
  (answer: (call: AppendCall) => Promise<object | boolean | null>): Script =>
  async ({ body }) =>
    json(
      await replyTo(
        () => answer(decodeAppendCall(JSON.parse(body))),
        (value) => value as never,
      ),
    );

describe("calls of another region's append function", () => {
  it.each<AppendCall>([
    { operation: "append", request },
    { operation: "append", request: { log: LOG, records: [] } },
    { operation: "append", request: { log: LOG, records: [], sender: { id: "p", epoch: 2, seq: 0 } } },
    { operation: "can-own", log: logIncarnation("l1") },
    { operation: "settle", log: LOG },
    { operation: "ask", request: { kind: "hand-over", log: LOG, to: EAST } },
    { operation: "ask", request: { kind: "take-over", log: LOG, from: EAST, epoch: segmentNumber(3) } },
    { operation: "ask", request: { kind: "take-over", log: LOG } },
    { operation: "ask", request: { kind: "settle", log: LOG } },
  ])("arrive as they were sent: %j", (call) => {
    expect(decodeAppendCall(JSON.parse(JSON.stringify(encodeAppendCall(call))))).toEqual(call);
  });

  it("an acknowledgement comes back whole", async () => {
    const { appends } = over(answering(async () => encodeAck(ack)));
    expect(await appends.append(WEST, request)).toEqual({ kind: "acknowledged", ack });
  });

  it("a refusal is an answer, with its code, its effects and its facts", async () => {
    const { appends } = over(
      answering(async () => {
        throw notOwner;
      }),
    );
    const answer = await appends.append(WEST, request);
    expect(answer).toMatchObject({
      kind: "refused",
      error: { code: "not_owner", sideEffects: "none", details: { owner: "eu-west-1", cannot_own: true } },
    });
    expect(await appends.ask(WEST, { kind: "settle", log: LOG })).toMatchObject({ kind: "refused" });
    // It lives, and will say itself why it cannot.
    expect(await appends.canOwn(WEST, logIncarnation("l1"))).toBe(true);
  });

  it("what another region is asked of an owner comes back", async () => {
    const { appends } = over(
      answering(async () => ({ ownership: encodeOwnership({ owner: WEST, epoch: segmentNumber(3) }) })),
    );
    expect(await appends.ask(WEST, { kind: "take-over", log: LOG })).toEqual({
      kind: "done",
      ownership: { owner: WEST, epoch: 3 },
    });
    const yes = over(answering(async () => true));
    expect(await yes.appends.canOwn(WEST, logIncarnation("l1"))).toBe(true);
  });

  it("a throttle is a sign of life, without effect, and no reason for a takeover", async () => {
    const throttle = () => dynamoError(429, "TooManyRequestsException");
    const { appends, service } = over(inOrder(throttle(), throttle(), throttle()));
    const tooMuch = { kind: "refused", error: { code: "over_capacity", sideEffects: "none" } };
    expect(await appends.append(WEST, request)).toMatchObject(tooMuch);
    expect(await appends.ask(WEST, { kind: "settle", log: LOG })).toMatchObject(tooMuch);
    expect(await appends.canOwn(WEST, logIncarnation("l1"))).toBe(true);
    expect(service.requests).toHaveLength(3);
  });

  it("silence may have done it; an unknown region has not; nothing is sent twice", async () => {
    const silent = over(inOrder(timeout()));
    await expect(silent.appends.append(WEST, request)).rejects.toMatchObject({ sideEffects: "possible" });
    expect(silent.service.requests).toHaveLength(1);
    await expect(silent.appends.append(region("mars"), request)).rejects.toMatchObject({
      sideEffects: "none",
    });
  });
});

describe("APR5, LC2: what Lambda says in the function's place", () => {
  const calls: readonly ((appends: LambdaAppends) => Promise<unknown>)[] = [
    (appends) => appends.append(WEST, request),
    (appends) => appends.canOwn(WEST, logIncarnation("l1")),
    (appends) => appends.ask(WEST, { kind: "settle", log: LOG }),
    (appends) => appends.settle(WEST, LOG, 1_000),
  ];

  it.each([
    dynamoError(403, "AccessDeniedException"),
    dynamoError(403, "InvalidSignatureException"),
    dynamoError(400, "UnrecognizedClientException"),
    dynamoError(401, "Unauthorized"),
    Object.assign(new Error("no credentials"), { name: "CredentialsProviderError" }),
  ])("a call that this region may not make is its own fault, and told as such: %j", async (reply) => {
    for (const call of calls) {
      const { appends, service } = over(inOrder(reply));
      const error = await call(appends).catch((reason) => reason);
      expect(error).toBeInstanceOf(CallDenied);
      expect(error).toMatchObject({ code: "unavailable", sideEffects: "none", retryable: false });
      expect(String(error)).toContain("append-us-west-2 in us-west-2");
      expect(String(error)).toContain("lambda:InvokeFunction");
      expect(service.requests).toHaveLength(1);
    }
  });

  it("a function that is not there is silent, as one that died is: its region cannot serve", async () => {
    for (const call of calls) {
      const { appends } = over(inOrder(dynamoError(404, "ResourceNotFoundException")));
      const error = await call(appends).catch((reason) => reason);
      expect(error).not.toBeInstanceOf(CallDenied);
      expect(error).toMatchObject({ code: "unavailable", sideEffects: "none", retryable: true });
    }
  });

  it("a denial that the function itself met is its answer, and not this region's", async () => {
    const { appends } = over(
      answering(async () => {
        throw new CallDenied("the owner may not call its bookie");
      }),
    );
    const answer = await appends.append(WEST, request);
    expect(answer).toMatchObject({ kind: "refused", error: { code: "unavailable", retryable: false } });
    expect(answer.kind === "refused" && answer.error).not.toBeInstanceOf(CallDenied);
  });
});

describe("what a region says of itself (OF1, APR2)", () => {
  it("a question is waited for longer than its asker waits: a late answer is a sign of life", async () => {
    const waits: unknown[] = [];
    const client = lambdaClient(WEST, FORWARD_WAITS, new ScriptedService(inOrder(json({}))).config);
    const send = client.send.bind(client);
    client.send = ((command: never, options: { requestTimeout?: number }) => {
      waits.push(options.requestTimeout);
      return send(command, options as never);
    }) as never;
    const appends = new LambdaAppends(() => ({ client, name: "f", region: WEST }));
    await appends.canOwn(WEST, logIncarnation("l1")).catch(() => undefined);
    expect(waits).toEqual([expect.any(Number)]);
    expect(Number(waits[0])).toBeGreaterThanOrEqual(2 * limits.ownerAskTimeoutMs);
  });

  it.each([
    ["of another format", { format: 2, answer: {} }],
    ["with a field that is not known", { format: 1, answer: { ...encodeAck(ack), more: 1 } }],
    [
      "with an error that is not known",
      { format: 1, failure: { code: "new", message: "", retryable: true } },
    ],
  ])("an answer %s may have done it: a plain append is not sent again", async (_, answer) => {
    const { appends } = over(inOrder(json(answer)));
    await expect(appends.append(WEST, request)).rejects.toMatchObject({
      code: "unavailable",
      sideEffects: "possible",
    });
  });

  it("a connection that broke while it stood may have carried the append, whatever it broke of", async () => {
    for (const code of ["EHOSTUNREACH", "ENETUNREACH"]) {
      const during = (syscall: string) => over(inOrder(Object.assign(networkError(code), { syscall })));
      const read = during("read").appends.append(WEST, request);
      await expect(read).rejects.toMatchObject({ sideEffects: "possible" });
      const connect = during("connect").appends.append(WEST, request);
      await expect(connect).rejects.toMatchObject({ sideEffects: "none" });
    }
  });
});

describe("rule 14: a tail is settled", () => {
  it("by one's own region's function alone, whoever owns the log: that one asks the owner", async () => {
    const asked: [path: string, call: AppendCall][] = [];
    const { appends } = over(async ({ path, body }) => {
      asked.push([path, decodeAppendCall(JSON.parse(body))]);
      return json({ format: 1, answer: null });
    });
    await lambdaSettler(appends, EAST).settle(WEST, logName("orders"));
    expect(asked).toEqual([
      [expect.stringContaining("append-us-east-1"), { operation: "settle", log: "orders" }],
    ]);
  });

  it("and rejects if nobody could", async () => {
    const { appends, service } = over(inOrder(timeout()));
    await expect(lambdaSettler(appends, EAST).settle(WEST, LOG)).rejects.toMatchObject({
      code: "unavailable",
    });
    expect(service.requests).toHaveLength(1);
  });
});
