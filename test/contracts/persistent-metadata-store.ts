/**
 * Callers that cope with lost replies, of a metadata store and of a lease store. What became of a write is
 * read from the item: the write's own token there means that it won.
 */
import type { WriteToken } from "../../lib/protocol/ids.ts";
import type { Version } from "../../lib/protocol/items.ts";
import type { LeaseStore, MetadataStore, WriteAnswer } from "../../lib/protocol/ports.ts";
import { untilAnswered } from "./contract.ts";
import { LostReply } from "./lost-replies.ts";

export function persistentMetadataStore(store: MetadataStore): MetadataStore {
  const get: MetadataStore["get"] = (key, consistency) => untilAnswered(() => store.get(key, consistency));
  return {
    get,
    query: (query, consistency) => untilAnswered(() => store.query(query, consistency)),
    write: (key, expected, item, token) =>
      resolvedWrite(
        () => store.write(key, expected, item, token),
        async () => (await get(key, "consistent"))?.version,
        expected,
        token,
      ),
    async remove(key, expected) {
      try {
        return await store.remove(key, expected);
      } catch (error) {
        if (!(error instanceof LostReply)) throw error;
        const found = await get(key, "consistent");
        if (found === undefined) return { kind: "removed" };
        if (!sameVersion(found.version, expected)) return { kind: "conflict" };
        return await untilAnswered(() => store.remove(key, expected));
      }
    },
  };
}

export function persistentLeaseStore(store: LeaseStore): LeaseStore {
  const read: LeaseStore["read"] = (log) => untilAnswered(() => store.read(log));
  const readFailures: LeaseStore["readFailures"] = (owner) => untilAnswered(() => store.readFailures(owner));
  return {
    read,
    write: (log, expected, lease, token) =>
      resolvedWrite(
        () => store.write(log, expected, lease, token),
        async () => (await read(log))?.version,
        expected,
        token,
      ),
    readFailures,
    writeFailures: (owner, expected, failures, token) =>
      resolvedWrite(
        () => store.writeFailures(owner, expected, failures, token),
        async () => (await readFailures(owner))?.version,
        expected,
        token,
      ),
  };
}

async function resolvedWrite(
  write: () => Promise<WriteAnswer>,
  stored: () => Promise<Version | undefined>,
  expected: Version | "absent",
  token: WriteToken,
): Promise<WriteAnswer> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof LostReply)) throw error;
    const version = await stored();
    if (version?.token === token) return { kind: "written", version };
    const untouched = expected === "absent" ? version === undefined : sameVersion(version, expected);
    return untouched ? await untilAnswered(write) : { kind: "conflict" };
  }
}

export function sameVersion(one: Version | undefined, other: Version): boolean {
  return one?.revision === other.revision && one.token === other.token;
}
