/** Two regions as two processes on one store: they share no memory, and take one log over from each other. */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LevelEntryStore } from "../../lib/adapters/level/level-entry-store.ts";
import { LevelMetadataStore } from "../../lib/adapters/level/level-metadata-store.ts";
import { setUpStorage } from "../../lib/protocol/bookie/stored-bookie.ts";
import { bookieId, region } from "../../lib/protocol/ids.ts";
import type { BookieAddress } from "../../lib/protocol/replication.ts";
import { ScratchDirectory } from "../adapters/scratch-directory.ts";
import type { Command, Done, StoreCall, ToProcess } from "./region-process.ts";

const timeout = 60_000;
const bookies: BookieAddress[] = ["us-east-1", "us-east-2", "us-west-2"].flatMap((name) =>
  ["a", "b"].map((rack) => ({ id: bookieId(`${name}.${rack}`), place: { region: region(name), rack } })),
);

let directory: ScratchDirectory;
let metadata: LevelMetadataStore;
const stores = new Map<string, LevelEntryStore>();
const processes: RegionClient[] = [];

/** The parent's end of a region's process; it answers the process's store calls from the one store. */
class RegionClient {
  readonly #child: ChildProcess;
  readonly #asked = new Map<number, (done: Done) => void>();
  #next = 0;

  constructor(name: string) {
    const file = fileURLToPath(new URL("./region-process.ts", import.meta.url));
    this.#child = fork(file, { execArgv: ["--import", "tsx"], serialization: "advanced" });
    this.#child.on("message", (message: StoreCall | Done) => {
      if (message.kind === "done") this.#asked.get(message.id)?.(message);
      else void this.#serve(message);
    });
    this.#tell({ kind: "start", start: { region: name, bookies } });
    processes.push(this);
  }

  async ask<T>(command: Command): Promise<T> {
    const id = this.#next++;
    const done = await new Promise<Done>((resolve) => {
      this.#asked.set(id, resolve);
      this.#tell({ kind: "command", id, command });
    });
    if (done.failed !== undefined) throw new Error(done.failed);
    return done.value as T;
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => this.#child.once("exit", () => resolve()));
    this.#child.kill("SIGKILL");
    await gone;
  }

  async #serve({ id, target, method, args }: StoreCall): Promise<void> {
    const store: object | undefined = target === "metadata" ? metadata : stores.get(target);
    try {
      const call = Reflect.get(store ?? {}, method) as (...args: readonly unknown[]) => Promise<unknown>;
      this.#tell({ kind: "reply", id, value: await call.apply(store, [...args]) });
    } catch (error) {
      this.#tell({ kind: "reply", id, failed: error instanceof Error ? error.message : String(error) });
    }
  }

  #tell(message: ToProcess): void {
    if (this.#child.connected) this.#child.send(message);
  }
}

beforeEach(async () => {
  directory = await ScratchDirectory.make();
  metadata = await LevelMetadataStore.open(join(directory.path, "metadata"));
  for (const { id } of bookies) {
    const store = await LevelEntryStore.open(join(directory.path, id));
    await setUpStorage(store, `storage of ${id}`);
    stores.set(id, store);
  }
});

afterEach(async () => {
  for (const one of processes.splice(0)) await one.kill();
  await Promise.all([metadata, ...stores.values()].map((store) => store.close()));
  stores.clear();
  await directory.remove();
});

interface Ack {
  readonly seqNum: number;
  readonly epoch: number;
}

test("an append that arrives in the other region fences, closes, and goes on in the next segment", {
  timeout,
}, async () => {
  const east = new RegionClient("us-east-1");
  const west = new RegionClient("us-west-2");
  const append = (where: RegionClient, body: string) =>
    where.ask<Ack>({ command: "append", log: "one", body });
  expect(await east.ask({ command: "create", log: "one" })).toBe(true);
  expect(await west.ask({ command: "create", log: "one" })).toBe(false);
  expect(await append(east, "e0")).toMatchObject({ seqNum: 0, epoch: 1 });
  expect(await append(east, "e1")).toMatchObject({ seqNum: 1, epoch: 1 });
  expect(await append(west, "w2")).toMatchObject({ seqNum: 2, epoch: 2 });
  expect(await append(east, "e3")).toMatchObject({ seqNum: 3, epoch: 3 });
  for (const where of [east, west]) {
    expect(await where.ask({ command: "read", log: "one" })).toEqual(["e0", "e1", "w2", "e3"]);
  }
});

test("both append at once, one is killed: every acknowledged record is there once, where it was said to be", {
  timeout,
}, async () => {
  const east = new RegionClient("us-east-1");
  const west = new RegionClient("us-west-2");
  await east.ask({ command: "create", log: "two" });
  const acknowledged = new Map<number, string>();
  const append = async (where: RegionClient, body: string) => {
    const ack = await where.ask<Ack>({ command: "append", log: "two", body });
    expect(acknowledged.has(ack.seqNum)).toBe(false);
    acknowledged.set(ack.seqNum, body);
  };
  const burst = (where: RegionClient, name: string, from: number) =>
    Promise.all(Array.from({ length: 8 }, (_, index) => append(where, `${name}${from + index}`)));
  await Promise.all([burst(east, "e", 0), burst(west, "w", 0)]);
  void burst(east, "e", 8).catch(() => undefined); // killed in the middle
  await new Promise((resolve) => setTimeout(resolve, 20));
  await east.kill();
  await burst(west, "w", 8);
  const records = await west.ask<string[]>({ command: "read", log: "two" });
  expect(acknowledged.size).toBeGreaterThanOrEqual(24);
  for (const [seqNum, body] of acknowledged) expect(records[seqNum]).toBe(body);
  expect(new Set(records).size).toBe(records.length);
});
