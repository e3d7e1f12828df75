/** A bookie behind its function keeps every contract; what Lambda may answer besides is unknown (rule 21). */
import type { InvokeCommand } from "@aws-sdk/client-lambda";
import { describe, expect, it } from "vitest";
import { BOOKIE_WAITS, lambdaClient } from "../../../lib/adapters/aws/aws-clients.ts";
import { LambdaBookie, LambdaBookies } from "../../../lib/adapters/aws/lambda-bookie.ts";
import type { LambdaFunction } from "../../../lib/adapters/aws/lambda-call.ts";
import { MemoryEntryStore } from "../../../lib/adapters/memory/memory-entry-store.ts";
import type { BookieAccess } from "../../../lib/environment.ts";
import { answerBookieCall } from "../../../lib/lambda/answer-bookie-call.ts";
import { StoredBookie, setUpStorage } from "../../../lib/protocol/bookie/stored-bookie.ts";
import { isIdentical } from "../../../lib/protocol/entry.ts";
import { bookieId, entryId, ledgerId } from "../../../lib/protocol/ids.ts";
import type { Bookie, EntryStore } from "../../../lib/protocol/ports.ts";
import { CallAbort } from "../../../lib/protocol/waiting.ts";
import { bookieContract } from "../../contracts/bookie-contract.ts";
import { LostReply } from "../../contracts/lost-replies.ts";
import { Scope } from "../../contracts/scope.ts";
import { TestClock } from "../../scenarios/test-clock.ts";
import {
  dynamoError,
  inOrder,
  json,
  networkError,
  type Script,
  type ScriptedReply,
  ScriptedService,
  timeout,
} from "./scripted-service.ts";

const storage = "s1";
const id = bookieId(`us-east-1.b1~${storage}`);
const [L, E0] = [ledgerId(7), entryId(0)];

function over(script: Script) {
  const service = new ScriptedService(script);
  const client = lambdaClient("us-east-1", BOOKIE_WAITS, service.config);
  return { service, bookie: new LambdaBookie(id, { client, name: "glog-bookie-b1", region: "us-east-1" }) };
}

/** Its function, called as Lambda calls it. */
const served =
  (bookie: Bookie, access?: BookieAccess): Script =>
  async ({ body }) =>
    json(await answerBookieCall(bookie, JSON.parse(body), access));

/** The same without the SDK's own work: a contract makes calls by the ten thousands. */
function calling(bookie: Bookie): Bookie {
  const send = async ({ input }: InvokeCommand) => {
    const event: unknown = JSON.parse(Buffer.from(input.Payload as Uint8Array).toString());
    return { Payload: Buffer.from(JSON.stringify(await answerBookieCall(bookie, event))) };
  };
  const client = { send } as unknown as LambdaFunction["client"];
  return new LambdaBookie(id, { client, name: "glog-bookie-b1", region: "us-east-1" });
}

/**
 * A reply that the storage behind the function lost, as what it is: the contract's caller asks again then.
 */
function lossesAsSuch(bookie: Bookie): Bookie {
  return new Proxy(bookie, {
    get(_, name) {
      const member: unknown = Reflect.get(bookie, name);
      if (typeof member !== "function") return member;
      return async (...args: unknown[]) => {
        try {
          return await member.apply(bookie, args);
        } catch (error) {
          if (error instanceof Error && error.message.endsWith(": reply lost"))
            throw new LostReply(error.message);
          throw error;
        }
      };
    },
  });
}

bookieContract("behind a Lambda function", async () => {
  const store = new MemoryEntryStore();
  const clock = new TestClock();
  await setUpStorage(store, storage);
  return {
    under: (edge) => {
      const another = (wrap = (inner: EntryStore) => inner) =>
        lossesAsSuch(calling(new StoredBookie({ id, storage, store: wrap(edge(store)), clock })));
      return {
        bookie: another(),
        another,
        store,
        storage,
        isInMemory: false,
        advance: (ms) => clock.advance(ms),
      };
    },
    close: async () => undefined,
  };
});

const failed = (payload: string): ScriptedReply => ({
  status: 200,
  headers: { "x-amz-function-error": "Unhandled" },
  body: payload,
});

describe("rule 21: what is not an answer is unknown", () => {
  it.each([
    ["a function that died", failed('{"errorMessage":"RequestId: x Process exited"}'), "possible"],
    ["a function that ran out of time", failed('{"errorMessage":"Task timed out"}'), "possible"],
    ["silence", timeout(), "possible"],
    ["a broken connection", networkError("ECONNRESET"), "possible"],
    ["a service failure", dynamoError(500, "ServiceException"), "possible"],
    ["no answer in the payload", { status: 200, body: "" }, "possible"],
    ["half of a payload", { status: 200, body: '{"format":1,"ans' }, "possible"],
    ["a throttle", dynamoError(429, "TooManyRequestsException"), "none"],
    ["a function that is not there", dynamoError(404, "ResourceNotFoundException"), "none"],
    ["a call that may not be made", dynamoError(403, "AccessDeniedException"), "none"],
    ["credentials that ran out", dynamoError(403, "ExpiredTokenException"), "none"],
    ["a refused connection", networkError("ECONNREFUSED"), "none"],
  ])("%s", async (_, reply, sideEffects) => {
    const calls: ((bookie: Bookie) => Promise<unknown>)[] = [
      (bookie) => bookie.read(L, E0),
      (bookie) => bookie.recoveryRead(L, E0),
      (bookie) => bookie.add(new Scope().entry(L, 0)),
      (bookie) => bookie.fence(L),
      (bookie) => bookie.seal(L, E0),
      (bookie) => bookie.tail(L),
      (bookie) => bookie.forget(L),
    ];
    for (const call of calls) {
      const { bookie, service } = over(inOrder(reply));
      await expect(call(bookie)).rejects.toMatchObject({ sideEffects });
      expect(service.requests).toHaveLength(1); // no retry behind the protocol's back
    }
  });

  it("an answer to another question is none", async () => {
    const answer = (kind: string) => json({ format: 1, answer: { kind } });
    await expect(over(inOrder(answer("ok"))).bookie.read(L, E0)).rejects.toThrow("answered ok");
    await expect(over(inOrder(answer("nothing"))).bookie.recoveryRead(L, E0)).rejects.toThrow("nothing");
    await expect(over(inOrder(answer("nothing"))).bookie.add(new Scope().entry(L, 0))).rejects.toThrow();
    await expect(over(inOrder(json({ format: 2, answer: {} }))).bookie.read(L, E0)).rejects.toThrow("format");
  });

  it("a function that has become another bookie does not answer for this one", async () => {
    const store = new MemoryEntryStore();
    await setUpStorage(store, "s2");
    const other = new StoredBookie({
      id: bookieId("us-east-1.b1~s2"),
      storage: "s2",
      store,
      clock: new TestClock(),
    });
    const { bookie } = over(served(other));
    await expect(bookie.recoveryRead(L, E0)).rejects.toMatchObject({ code: "unavailable" });
    await expect(bookie.read(L, E0)).rejects.toThrow("us-east-1.b1~s2");
    expect(await store.get({ kind: "fence", ledgerId: L })).toBeUndefined();
  });

  it("a failure that the bookie foresaw keeps its code and its side effects", async () => {
    const store = new MemoryEntryStore(); // without its marker
    const stored = new StoredBookie({ id, storage, store, clock: new TestClock() });
    await expect(over(served(stored)).bookie.read(L, E0)).rejects.toMatchObject({
      code: "unavailable",
      sideEffects: "possible",
    });
  });
});

describe("a bookie's function that was deployed for reading", () => {
  const scope = new Scope();
  const writing: readonly [what: string, call: (bookie: Bookie) => Promise<unknown>][] = [
    ["an add", (bookie) => bookie.add(scope.entry(L, 1))],
    ["an add of recovery's", (bookie) => bookie.recoveryAdd(scope.entry(L, 1))],
    ["a recovery read of an entry", (bookie) => bookie.recoveryRead(L, E0)],
    ["a recovery read of an empty slot", (bookie) => bookie.recoveryRead(L, entryId(1))],
    ["a fence", (bookie) => bookie.fence(L)],
    ["a seal", (bookie) => bookie.seal(L, entryId(1))],
    ["a deletion of entries", (bookie) => bookie.deleteEntries(L, E0)],
    ["a deletion of everything", (bookie) => bookie.forget(L)],
  ];

  async function reader() {
    const store = new MemoryEntryStore();
    await setUpStorage(store, storage);
    const stored = new StoredBookie({ id, storage, store, clock: new TestClock() });
    const entry = scope.entry(L, 0);
    await stored.add(entry);
    return { store, entry, bookie: over(served(stored, "read")).bookie };
  }

  it.each(writing)("rule 21: %s is refused without effect, and is no negative", async (_, call) => {
    const { store, bookie } = await reader();
    const before = await store.list({ limit: 100 });
    await expect(call(bookie)).rejects.toMatchObject({
      code: "unavailable",
      sideEffects: "none",
      retryable: false,
      message: expect.stringContaining("this function reads"),
    });
    expect(await store.list({ limit: 100 })).toEqual(before);
  });

  it("answers everything that changes nothing", async () => {
    const { entry, bookie } = await reader();
    const found = await bookie.read(L, E0);
    expect(found.kind === "entry" && isIdentical(found.entry, entry)).toBe(true);
    const slots = await bookie.readSeveral?.(L, [E0, entryId(1)]);
    expect(slots?.map((slot) => slot?.kind)).toEqual(["entry", "nothing"]);
    expect((await bookie.tail(L)).highest?.header.entryId).toBe(0);
  });
});

describe("limits", () => {
  it("the largest entry that there is goes through; more than Lambda takes is refused before it is sent", async () => {
    const store = new MemoryEntryStore();
    await setUpStorage(store, storage);
    const stored = new StoredBookie({ id, storage, store, clock: new TestClock() });
    const { bookie, service } = over(served(stored));
    const entry = new Scope().entry(L, 0, { payload: new Uint8Array(2_200_000).fill(7) });
    expect(await bookie.add(entry)).toEqual({ kind: "ok" });
    const answer = await bookie.read(L, E0);
    expect(answer.kind === "entry" && isIdentical(answer.entry, entry)).toBe(true);
    const many = service.requests.length;
    const huge = new Scope().entry(L, 1, { payload: new Uint8Array(5_000_000) });
    await expect(bookie.add(huge)).rejects.toMatchObject({ sideEffects: "none", retryable: false });
    expect(service.requests).toHaveLength(many);
  });

  it("of many slots those that do not fit in one answer are unknown", async () => {
    const store = new MemoryEntryStore();
    await setUpStorage(store, storage);
    const stored = new StoredBookie({ id, storage, store, clock: new TestClock() });
    const { bookie } = over(served(stored));
    const scope = new Scope();
    const ids = [0, 1, 2, 3, 4].map(entryId);
    for (const one of ids) await bookie.add(scope.entry(L, one, { payload: new Uint8Array(1_500_000) }));
    const slots = await bookie.readSeveral(L, ids);
    expect(slots.map((slot) => slot?.kind)).toEqual(["entry", "entry", "entry", undefined, undefined]);
  });

  it("an aborted read ends its request", async () => {
    const { bookie } = over(() => new Promise(() => {}));
    const abort = new CallAbort();
    const read = expect(bookie.read(L, E0, abort)).rejects.toThrow("nobody waits");
    await new Promise((resolve) => setTimeout(resolve, 20));
    abort.abort();
    await read;
  });
});

it("a bookie that the deployment does not have rejects every call, without effect", async () => {
  const nobody = new LambdaBookies(() => undefined).bookie(id);
  await expect(nobody.read(L, E0)).rejects.toMatchObject({ sideEffects: "none" });
  await expect(nobody.add(new Scope().entry(L, 0))).rejects.toThrow("no bookie");
});
