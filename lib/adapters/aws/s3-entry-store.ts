/**
 * A bookie's storage in an S3 bucket: one object per slot, fence and marker.
 *
 * SES1 The bucket decides: `If-None-Match: *` is put-if-absent, atomic per key (rules 1 to 4).
 * SES2 412 means that the key was taken. After an attempt of this very call whose outcome is unknown, the
 *      bytes that are there say whose it is: its own mean that it was stored.
 * SES3 409 (another request for the key is under way) and 429 store nothing; they are repeated.
 * SES4 Only NoSuchKey of a GetObject is "absent". 403, NoSuchBucket, any other 404 and silence are unknown
 *      (rule 21).
 * SES5 Entries alone have a storage class. Fences, markers and Tombstones are a few bytes, the first two read
 *      with each add: they stay in S3's own.
 */
import {
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  type S3Client,
  type StorageClass,
} from "@aws-sdk/client-s3";
import { objectKey } from "../../formats/object-keys.ts";
import { decodeStoreValue, encodeStoreValue } from "../../formats/store-value-format.ts";
import { sameBytes } from "../../protocol/entry.ts";
import { FencelineError } from "../../protocol/errors.ts";
import type { EntryStore, StoreKey, StoreListRequest, StorePage, StoreValue } from "../../protocol/ports.ts";
import type { CallSignal } from "../../protocol/waiting.ts";
import { abortableCall } from "./abortable-call.ts";
import { callFailure, unansweredCall } from "./call-failure.ts";
import { pauseAfter, type RetryPorts } from "./retry-refused.ts";
import { listKeys } from "./s3-listing.ts";

interface S3EntryStoreFields extends RetryPorts {
  /** Its clients' own retries off: `maxAttempts: 1` (SES2). */
  readonly client: S3Client;
  readonly bucket: string;
  /** One whose objects can be read at once (SES5); S3's own if absent. */
  readonly storageClass?: StorageClass;
}

/** A slow or throttled bucket is asked again; its bookie's caller waits no longer than these take. */
const ATTEMPTS = 4;
const PRECONDITION_FAILED = 412;

export class S3EntryStore implements EntryStore {
  constructor(private readonly fields: S3EntryStoreFields) {}

  async putIfAbsent(key: StoreKey, value: StoreValue): Promise<"stored" | "occupied"> {
    const name = objectKey(key);
    const bytes = encodeStoreValue(value);
    return await this.#persist(`put ${name} if absent`, async (inDoubt) => {
      try {
        await this.#put(name, bytes, value, "*");
        return "stored";
      } catch (error) {
        if (callFailure(error).status !== PRECONDITION_FAILED) throw error;
        return inDoubt ? await this.#whose(name, bytes) : "occupied";
      }
    });
  }

  async put(key: StoreKey, value: StoreValue): Promise<void> {
    const name = objectKey(key);
    const bytes = encodeStoreValue(value);
    await this.#persist(`put ${name}`, () => this.#put(name, bytes, value));
  }

  async get(key: StoreKey, signal?: CallSignal): Promise<StoreValue | undefined> {
    const bytes = await this.#read(objectKey(key), signal);
    return bytes === undefined ? undefined : decodeStoreValue(bytes);
  }

  async delete(key: StoreKey): Promise<void> {
    const name = objectKey(key);
    const { client, bucket } = this.fields;
    await this.#persist(`delete ${name}`, () =>
      client.send(new DeleteObjectCommand({ Bucket: bucket, Key: name })),
    );
  }

  async list(request: StoreListRequest): Promise<StorePage> {
    const { client, bucket } = this.fields;
    return await this.#persist("list", () => listKeys(client, bucket, request));
  }

  async #put(name: string, bytes: Uint8Array, value: StoreValue, ifNoneMatch?: "*"): Promise<void> {
    const { client, bucket, storageClass } = this.fields;
    const isEntry = value.kind === "original" || value.kind === "recovered"; // SES5
    await client.send(
      new PutObjectCommand({
        Bucket: bucket,
        Key: name,
        Body: bytes,
        ContentLength: bytes.length,
        ContentType: "application/octet-stream",
        ...(isEntry && storageClass !== undefined ? { StorageClass: storageClass } : {}),
        ...(ifNoneMatch === undefined ? {} : { IfNoneMatch: ifNoneMatch }),
      }),
    );
  }

  /**
   * SES2. Rivals with the same bytes both get "stored": Tombstones, of which it does not matter whose is
   * there (rules 3, 9), and one writer's own entry sent twice (rule 2).
   */
  async #whose(name: string, bytes: Uint8Array): Promise<"stored" | "occupied"> {
    const found = await this.#read(name);
    if (found === undefined) throw new Error("it was taken and is gone again");
    return sameBytes(found, bytes) ? "stored" : "occupied";
  }

  /** SES4 */
  async #read(name: string, signal?: CallSignal): Promise<Uint8Array | undefined> {
    const what = `get ${name}`;
    const read = async (options: { readonly abortSignal?: AbortSignal }) => {
      try {
        const command = new GetObjectCommand({ Bucket: this.fields.bucket, Key: name });
        const { Body } = await this.fields.client.send(command, options);
        if (Body === undefined) throw new Error("the answer has no body");
        return await Body.transformToByteArray();
      } catch (error) {
        const failure = callFailure(error);
        if (failure.name === "NoSuchKey" && failure.status === 404) return undefined;
        throw error;
      }
    };
    return await this.#persist(what, () => abortableCall(signal, what, read), signal);
  }

  /**
   * Repeats what was refused for the moment or got no answer: all of these calls may be made twice. `call`
   * gets whether an earlier attempt may have taken effect.
   */
  async #persist<T>(what: string, call: (inDoubt: boolean) => Promise<T>, signal?: CallSignal): Promise<T> {
    let inDoubt = false;
    for (let attempt = 1; ; attempt++) {
      try {
        return await call(inDoubt);
      } catch (error) {
        const { passes, sideEffects } = callFailure(error);
        inDoubt ||= sideEffects === "possible";
        const mayPass = passes || sideEffects === "possible";
        if (!mayPass || error instanceof FencelineError || attempt >= ATTEMPTS) {
          throw unansweredCall(`${this.fields.bucket}: ${what}`, error, inDoubt);
        }
      }
      await pauseAfter(this.fields, attempt, signal);
    }
  }
}
