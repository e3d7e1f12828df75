/**
 * A log under load from three regions, with distances between all parts, whose owner is lost: how long
 * appends stand still, and what happened meanwhile. All in virtual time.
 */
import { unavailable } from "../../../lib/protocol/errors.ts";
import { regionAware } from "../../../lib/protocol/placement/region-aware.ts";
import type { TraceEvent } from "../../../lib/protocol/trace-events.ts";
import { pause } from "../../../lib/protocol/waiting.ts";
import type { Match } from "../faults.ts";
import { LOG, type LogClient, LogWorld, recordOf } from "./log-world.ts";

const REGIONS = ["east", "west", "north"] as const;

/** Each way, in ms, as far as a request goes: a bookie, a metadata replica, another region's function. */
const DELAY_MS = { bookie: 30, metadata: 15, region: 40, lease: 5 } as const;

/** Of a process: it is started again. Of a region: all that is in it answers nothing, or refuses. */
export type Loss = "killed" | "refusing" | "hanging";

export interface OutageFields {
  /** E, Qw, Qa; over two regions at least. */
  readonly quorums: readonly [number, number, number];
  readonly bookiesPerRegion: number;
  /** Chooses among ledger ids, and so among ensembles. */
  readonly seed: number;
}

export class Outage {
  readonly #w: LogWorld;
  readonly #owner: LogClient;
  readonly #ackedAtMs: number[] = [];
  readonly #events: string[] = [];
  #lostAtMs = Number.POSITIVE_INFINITY;

  private constructor(w: LogWorld) {
    this.#w = w;
    this.#owner = w.client("P", "east");
  }

  /** The log is owned by the east, and appended to from everywhere. */
  static async make({ quorums, bookiesPerRegion, seed }: OutageFields): Promise<Outage> {
    const listening: { note?: (client: string, event: TraceEvent) => void } = {};
    const names = Array.from({ length: bookiesPerRegion }, (_, index) => index);
    const w = await LogWorld.make({
      bookies: REGIONS.flatMap((where) => names.map((name) => `${where}-${name}@${where}`)),
      quorums,
      minRegions: 2,
      leases: true,
      forwarding: true,
      client: (ports, client) => ({
        ...ports,
        placement: regionAware,
        trace: { emit: (event) => listening.note?.(client, event) },
      }),
    });
    const outage = new Outage(w);
    listening.note = (client, event) => outage.#note(client, event);
    const { random } = w.world.ports("seed");
    for (let draw = 0; draw < seed; draw++) random.uint32();
    outage.#keepDistances();
    await outage.#owner.append("first");
    const others = [w.client("Q", "west"), w.client("R", "north")];
    for (const client of [outage.#owner, ...others]) outage.#load(client);
    await w.world.clock.advance(3_000);
    return outage;
  }

  /** The longest time in which no append was acknowledged, in ms, and what happened in it. */
  async standstill(loss: Loss): Promise<{ readonly ms: number; readonly story: string }> {
    this.#lostAtMs = this.#w.world.clock.nowMs();
    if (loss === "killed") this.#restart();
    else this.#lose(loss);
    await this.#w.world.clock.advance(8_000);
    const times = [...this.#ackedAtMs, this.#w.world.clock.nowMs()];
    const ms = Math.max(...times.slice(1).map((time, index) => time - (times[index] ?? time)));
    return { ms, story: this.#events.join("\n") };
  }

  #keepDistances(): void {
    const { faults, clock } = this.#w.world;
    for (const port of Object.keys(DELAY_MS) as (keyof typeof DELAY_MS)[]) {
      for (const moment of ["before", "after"] as const) {
        faults.at({ port }, moment, Number.POSITIVE_INFINITY, () => pause(clock, DELAY_MS[port]));
      }
    }
  }

  #restart(): void {
    this.#owner.die();
    this.#load(this.#w.client("P2", "east"));
  }

  #lose(loss: "refusing" | "hanging"): void {
    const { faults, world } = this.#w;
    const bookies = [...world.stores.keys()].filter((name) => name.startsWith("east"));
    const lost: readonly Match[] = [
      { client: "P" },
      { port: "region", target: "east" },
      ...bookies.map((target) => ({ port: "bookie", target }) as const),
    ];
    for (const match of lost) {
      for (const moment of ["before", "after"] as const) {
        if (loss === "hanging") faults.hold(match, moment);
        else {
          faults.at(match, moment, Number.POSITIVE_INFINITY, () => {
            throw unavailable("the east is down", moment === "before" ? "none" : "possible");
          });
        }
      }
    }
  }

  /** Producers with one append under way each, for ever. */
  #load(client: LogClient): void {
    const { clock } = this.#w.world;
    const produce = async (id: string) => {
      let seq = 0;
      while (true) {
        const request = { log: LOG, records: [recordOf(`${id}.${seq}`)], sender: { id, epoch: 0, seq } };
        const acked = client.appends.append({ ...request, timeoutMs: 8_000 }).then(
          () => true,
          () => false,
        );
        if (await acked) {
          seq += 1;
          this.#ackedAtMs.push(clock.nowMs());
        } else await pause(clock, 50);
      }
    };
    for (let index = 0; index < 4; index++) void produce(`${client.name}-${index}`);
  }

  #note(client: string, { event, ...facts }: TraceEvent): void {
    const atMs = this.#w.world.clock.nowMs() - this.#lostAtMs;
    if (atMs >= 0 && event !== "entry-acknowledged") {
      this.#events.push(`${atMs} ms: ${client} ${event} ${JSON.stringify(facts)}`);
    }
  }
}
