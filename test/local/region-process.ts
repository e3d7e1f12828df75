/**
 * One region's append function as a process of its own: it shares no memory with anybody. Its stores are in the
 * parent process, one message to a call; the bookies that it talks to run here, over those stores.
 */
import { SystemClock } from "../../lib/adapters/node/system-clock.ts";
import { SystemRandom } from "../../lib/adapters/node/system-random.ts";
import { StoredBookie } from "../../lib/protocol/bookie/stored-bookie.ts";
import { type ComposedRegion, composeRegion } from "../../lib/protocol/compose-region.ts";
import { unavailable } from "../../lib/protocol/errors.ts";
import { logName, region, seqNum } from "../../lib/protocol/ids.ts";
import type { EntryStore, MetadataStore } from "../../lib/protocol/ports.ts";
import type { BookieAddress } from "../../lib/protocol/replication.ts";
import { fixed, testPorts } from "../process-ports.ts";

export interface StoreCall {
  readonly kind: "store";
  readonly id: number;
  /** A bookie's id, or "metadata". */
  readonly target: string;
  readonly method: string;
  readonly args: readonly unknown[];
}

export interface Start {
  readonly region: string;
  readonly bookies: readonly BookieAddress[];
}

export type Command =
  | { readonly command: "create"; readonly log: string }
  | { readonly command: "append"; readonly log: string; readonly body: string }
  | { readonly command: "read"; readonly log: string };

/** What a process gets: its name, what to do, or what a store answered. */
export type ToProcess =
  | { readonly kind: "start"; readonly start: Start }
  | { readonly kind: "command"; readonly id: number; readonly command: Command }
  | { readonly kind: "reply"; readonly id: number; readonly value?: unknown; readonly failed?: string };

export interface Done {
  readonly kind: "done";
  readonly id: number;
  readonly value?: unknown;
  readonly failed?: string;
}

const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: unknown) => void }>();
let calls = 0;

function call(target: string, method: string, args: readonly unknown[]): Promise<never> {
  const id = calls++;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
    process.send?.({ kind: "store", id, target, method, args } satisfies StoreCall);
  });
}

const entryStore = (target: string): EntryStore => ({
  putIfAbsent: (...args) => call(target, "putIfAbsent", args),
  put: (...args) => call(target, "put", args),
  get: (...args) => call(target, "get", args),
  delete: (...args) => call(target, "delete", args),
  list: (...args) => call(target, "list", args),
});

const metadata: MetadataStore = {
  get: (...args) => call("metadata", "get", args),
  write: (...args) => call("metadata", "write", args),
  remove: (...args) => call("metadata", "remove", args),
  query: (...args) => call("metadata", "query", args),
};

function regionOf(start: Start): ComposedRegion {
  const clock = new SystemClock();
  const ports = testPorts({
    clock,
    random: new SystemRandom(),
    metadata,
    bookies: {
      bookie: (id) => new StoredBookie({ id, storage: `storage of ${id}`, store: entryStore(id), clock }),
    },
    topology: fixed(start.bookies),
    region: region(start.region),
  });
  return composeRegion(ports);
}

class RegionProcess {
  readonly #region: ComposedRegion;

  constructor(start: Start) {
    this.#region = regionOf(start);
  }

  async run(command: Command): Promise<unknown> {
    const log = logName(command.log);
    switch (command.command) {
      case "create": {
        const replication = { ensembleSize: 4, writeQuorum: 4, ackQuorum: 3, minRegions: 2 };
        const config = { replication, digest: "crc32", segmentBytesMax: 1 << 20 } as const;
        return (await this.#region.append.createLog(log, config)).created;
      }
      case "append": {
        const record = { body: new TextEncoder().encode(command.body), headers: [] };
        const { start, epoch, ownerRegion } = await this.#region.append.append({ log, records: [record] });
        return { seqNum: start.seqNum, epoch, ownerRegion };
      }
      case "read": {
        const from = seqNum(0);
        const answer = await this.#region.read.read({ log, from, limit: 1_000, consistency: "strong" });
        return answer.records.map((record) => new TextDecoder().decode(record.body));
      }
    }
  }
}

let here: RegionProcess | undefined;

async function run(id: number, command: Command): Promise<Done> {
  try {
    if (here === undefined) throw new Error("not started");
    return { kind: "done", id, value: await here.run(command) };
  } catch (error) {
    return { kind: "done", id, failed: error instanceof Error ? error.message : String(error) };
  }
}

function settle({ id, value, failed }: Extract<ToProcess, { kind: "reply" }>): void {
  const asked = waiting.get(id);
  waiting.delete(id);
  if (failed === undefined) asked?.resolve(value);
  else asked?.reject(unavailable(failed));
}

process.on("message", (message: ToProcess) => {
  if (message.kind === "start") here = new RegionProcess(message.start);
  else if (message.kind === "reply") settle(message);
  else void run(message.id, message.command).then((done) => process.send?.(done));
});
