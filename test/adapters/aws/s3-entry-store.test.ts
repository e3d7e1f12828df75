/** What S3 may answer and an emulator never does (SES1 to SES4, rules 1 and 21). */
import { describe, expect, it } from "vitest";
import { S3_WAITS, s3Client } from "../../../lib/adapters/aws/aws-clients.ts";
import { S3EntryStore } from "../../../lib/adapters/aws/s3-entry-store.ts";
import { objectKey } from "../../../lib/formats/object-keys.ts";
import { encodeStoreValue } from "../../../lib/formats/store-value-format.ts";
import { entryId, ledgerId } from "../../../lib/protocol/ids.ts";
import type { StoreKey, StoreValue } from "../../../lib/protocol/ports.ts";
import { CallAbort } from "../../../lib/protocol/waiting.ts";
import { Scope } from "../../contracts/scope.ts";
import {
  hurried,
  inOrder,
  networkError,
  type Script,
  ScriptedService,
  s3Error,
  timeout,
} from "./scripted-service.ts";

const SLOT: StoreKey = { kind: "slot", ledgerId: ledgerId(7), entryId: entryId(0) };
const TOMBSTONE: StoreValue = { kind: "tombstone" };
const OK = { status: 200 };
const TAKEN = s3Error(412, "PreconditionFailed");
const stored = (value: StoreValue) => ({ status: 200, body: encodeStoreValue(value) });

function storeOver(script: Script) {
  const service = new ScriptedService(script);
  const client = s3Client("us-east-1", S3_WAITS, true, service.config);
  return { service, store: new S3EntryStore({ client, bucket: "slots", ...hurried }) };
}

describe("put if absent", () => {
  it("SES1: asks S3 to store only where nothing is", async () => {
    const { store, service } = storeOver(inOrder(OK));
    expect(await store.putIfAbsent(SLOT, TOMBSTONE)).toBe("stored");
    expect(service.requests[0]?.headers["if-none-match"]).toBe("*");
    expect(service.requests).toHaveLength(1);
  });

  it("SES2: a 412 is occupied whatever its body says, and nothing is read for it", async () => {
    for (const reply of [TAKEN, { status: 412 }, s3Error(412, "Whatever")]) {
      const { store, service } = storeOver(inOrder(reply));
      expect(await store.putIfAbsent(SLOT, TOMBSTONE)).toBe("occupied");
      expect(service.requests).toHaveLength(1);
    }
  });

  it.each([
    ["silence", timeout()],
    ["a broken connection", networkError("ECONNRESET")],
    ["503 SlowDown", s3Error(503, "SlowDown")],
    ["500", s3Error(500, "InternalError")],
  ])("SES2: after %s a 412 is judged by the bytes that are there", async (_, first) => {
    const own = storeOver(inOrder(first, TAKEN, stored(TOMBSTONE)));
    expect(await own.store.putIfAbsent(SLOT, TOMBSTONE)).toBe("stored");
    const rival = storeOver(inOrder(first, TAKEN, stored({ kind: "fence" })));
    expect(await rival.store.putIfAbsent(SLOT, TOMBSTONE)).toBe("occupied");
  });

  it("SES2: what was taken and cannot be read tells nothing", async () => {
    const gone = storeOver(inOrder(timeout(), TAKEN, s3Error(404, "NoSuchKey")));
    await expect(gone.store.putIfAbsent(SLOT, TOMBSTONE)).rejects.toMatchObject({ sideEffects: "possible" });
    const denied = storeOver(inOrder(timeout(), TAKEN, s3Error(403, "AccessDenied")));
    await expect(denied.store.putIfAbsent(SLOT, TOMBSTONE)).rejects.toMatchObject({
      sideEffects: "possible",
    });
  });

  it("SES3: a 409 stored nothing and is repeated; a 412 after it is occupied", async () => {
    const conflict = s3Error(409, "ConditionalRequestConflict");
    const won = storeOver(inOrder(conflict, conflict, OK));
    expect(await won.store.putIfAbsent(SLOT, TOMBSTONE)).toBe("stored");
    const lost = storeOver(inOrder(conflict, TAKEN));
    expect(await lost.store.putIfAbsent(SLOT, TOMBSTONE)).toBe("occupied");
    expect(lost.service.requests).toHaveLength(2);
  });

  it("gives up after a few attempts, and says what may have happened", async () => {
    const slow = storeOver(inOrder(s3Error(503, "SlowDown")));
    await expect(slow.store.putIfAbsent(SLOT, TOMBSTONE)).rejects.toMatchObject({
      code: "unavailable",
      sideEffects: "possible",
    });
    expect(slow.service.requests).toHaveLength(4);
    const busy = storeOver(inOrder(s3Error(409, "ConditionalRequestConflict")));
    await expect(busy.store.putIfAbsent(SLOT, TOMBSTONE)).rejects.toMatchObject({ sideEffects: "none" });
    const doubt = storeOver(inOrder(timeout(), s3Error(403, "AccessDenied")));
    await expect(doubt.store.putIfAbsent(SLOT, TOMBSTONE)).rejects.toMatchObject({ sideEffects: "possible" });
  });

  it.each([
    ["403", s3Error(403, "AccessDenied")],
    ["NoSuchBucket", s3Error(404, "NoSuchBucket")],
  ])("%s is refused at once, without effect", async (_, reply) => {
    const { store, service } = storeOver(inOrder(reply));
    await expect(store.putIfAbsent(SLOT, TOMBSTONE)).rejects.toMatchObject({ sideEffects: "none" });
    expect(service.requests).toHaveLength(1);
  });
});

describe("get", () => {
  it("SES4: NoSuchKey alone is absent", async () => {
    expect(await storeOver(inOrder(s3Error(404, "NoSuchKey"))).store.get(SLOT)).toBeUndefined();
  });

  it.each([
    ["NoSuchBucket", s3Error(404, "NoSuchBucket")],
    ["a 404 without a code", { status: 404 }],
    ["a 404 of a proxy", { status: 404, body: "<html>not found</html>" }],
    ["another 404", s3Error(404, "NoSuchVersion")],
    ["NoSuchKey with another status", s3Error(403, "NoSuchKey")],
    ["403, which a missing key is without ListBucket", s3Error(403, "AccessDenied")],
    ["silence", timeout()],
    ["503", s3Error(503, "SlowDown")],
  ])("SES4, rule 21: %s is unknown", async (_, reply) => {
    await expect(storeOver(inOrder(reply)).store.get(SLOT)).rejects.toMatchObject({ code: "unavailable" });
  });

  it("is asked again after a passing failure", async () => {
    const { store } = storeOver(inOrder(s3Error(503, "SlowDown"), timeout(), stored(TOMBSTONE)));
    expect(await store.get(SLOT)).toEqual(TOMBSTONE);
  });

  it("what cannot be read is damage, and not asked for again", async () => {
    const { store, service } = storeOver(inOrder({ status: 200, body: "\u0001?" }));
    await expect(store.get(SLOT)).rejects.toMatchObject({ code: "data_corrupt" });
    expect(service.requests).toHaveLength(1);
  });

  it("ends when it is aborted: at once, and without another attempt", async () => {
    const { store, service } = storeOver(() => new Promise(() => {}));
    const abort = new CallAbort();
    const got = expect(store.get(SLOT, abort)).rejects.toThrow("nobody waits");
    await new Promise((resolve) => setTimeout(resolve, 20));
    abort.abort();
    await got;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(service.requests).toHaveLength(1);
  });
});

describe("SES5: the storage class", () => {
  const scope = new Scope();
  const entry = scope.entry(ledgerId(7), 0);
  const values: readonly StoreValue[] = [
    { kind: "original", entry },
    { kind: "recovered", entry },
    TOMBSTONE,
    { kind: "fence" },
    { kind: "incarnation", storage: "s1" },
  ];

  it.each(["STANDARD_IA", "INTELLIGENT_TIERING"] as const)("%s is asked for entries alone", async (one) => {
    for (const value of values) {
      const service = new ScriptedService(inOrder(OK));
      const client = s3Client("us-east-1", S3_WAITS, true, service.config);
      const store = new S3EntryStore({ client, bucket: "slots", storageClass: one, ...hurried });
      await store.putIfAbsent(SLOT, value);
      await store.put(SLOT, value);
      const wanted = value.kind === "original" || value.kind === "recovered" ? one : undefined;
      const asked = service.requests.map(({ headers }) => headers["x-amz-storage-class"]);
      expect(asked).toEqual([wanted, wanted]);
    }
  });

  it("is S3's own where none is given", async () => {
    const { store, service } = storeOver(inOrder(OK));
    await store.putIfAbsent(SLOT, { kind: "original", entry });
    expect(service.requests[0]?.headers).not.toHaveProperty("x-amz-storage-class");
  });
});

describe("other calls", () => {
  it("put and delete are repeated until they are answered", async () => {
    const failures = [s3Error(503, "SlowDown"), networkError("ECONNRESET")] as const;
    const put = storeOver(inOrder(...failures, OK));
    await put.store.put(SLOT, TOMBSTONE);
    expect(put.service.requests.map((one) => one.headers["if-none-match"])).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    await storeOver(inOrder(...failures, { status: 204 })).store.delete(SLOT);
    await expect(storeOver(inOrder(s3Error(404, "NoSuchBucket"))).store.delete(SLOT)).rejects.toThrow();
  });

  it("a page that S3 cut short is not the last one, however few keys are in it", async () => {
    const name = objectKey(SLOT);
    const listing = (isCut: boolean) => ({
      status: 200,
      headers: { "content-type": "application/xml" },
      body:
        `<?xml version="1.0"?><ListBucketResult><IsTruncated>${isCut}</IsTruncated>` +
        `<Contents><Key>${name}</Key></Contents></ListBucketResult>`,
    });
    const { store, service } = storeOver(inOrder(listing(true), listing(false)));
    expect(await store.list({ limit: 5 })).toEqual({ keys: [SLOT], next: name });
    expect(await store.list({ limit: 5, after: name })).toEqual({ keys: [SLOT] });
    expect(service.requests[1]?.query["start-after"]).toBe(name);
  });

  it("a list that fails is no empty list", async () => {
    const { store } = storeOver(inOrder(s3Error(403, "AccessDenied")));
    await expect(store.list({ limit: 5 })).rejects.toMatchObject({ code: "unavailable" });
  });
});
