/**
 * The `append` function of one region, as it is deployed: several instances, each a process with its own
 * warm writers, caches and evidence. A request goes to any instance that has room for it; if none has, a new
 * one starts. An instance that has nothing to do may be frozen until its next request comes, in the middle
 * of whatever it still had under way.
 */
import { unavailable } from "../../lib/protocol/errors.ts";
import { logName, type Region, region } from "../../lib/protocol/ids.ts";
import type { LogAppends } from "../../lib/protocol/log/log-appends.ts";
import type { AppendRequest } from "../../lib/protocol/log/operations.ts";
import { composeAnySizes } from "../process-ports.ts";
import { type FunctionFault, isFunctionFault } from "./faults.ts";
import { leasePorts } from "./function-ports.ts";
import type { Reply } from "./message-path.ts";
import type { FunctionCall, FunctionOutcome } from "./observations.ts";
import type { FunctionsPlan } from "./plan.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { World } from "./world.ts";

export interface FunctionInstance {
  readonly process: SimulatedProcess;
  readonly appends: LogAppends;
  /** Requests that it works on. */
  busy: number;
  /** Frozen because it has nothing to do. */
  isParked: boolean;
  /** It serves an inbox. */
  isResident: boolean;
}

/** What the instance is asked to do, and its name in the observations. */
export interface FleetCall<T> {
  readonly about: Omit<FunctionCall, "process">;
  /** `request` is `about.request` as it comes out of the network: equal, and an object of this delivery. */
  act(appends: LogAppends, request: AppendRequest | undefined): Promise<T>;
}

/** The log whose inbox residents serve. */
const SERVED_LOG = logName("log-0");

/** A request that freezes or kills its instance does so within this time. */
const STRIKE_WITHIN_MS = 400;

export class FunctionFleet {
  readonly region: Region;
  readonly instances: FunctionInstance[] = [];
  readonly #random: SeededRandom;
  readonly #faults: readonly FunctionFault[];

  constructor(
    private readonly world: World,
    readonly plan: FunctionsPlan,
  ) {
    this.region = region(plan.region);
    this.#random = world.random(`functions ${plan.name}`);
    this.#faults = world.plan.faults.filter(isFunctionFault).filter(({ target }) => target === plan.name);
    const { residents } = plan;
    if (residents !== undefined) world.scheduler.after(0, () => this.#watchInbox(residents));
  }

  /** Starts a resident now and then, as contention does, seldom beside another one; not in the calm after all. */
  #watchInbox(probability: number): void {
    const { scheduler, plan } = this.world;
    const serving = this.instances.filter(
      ({ isResident, process }) => isResident && process.state === "running",
    );
    const chance = serving.length === 0 ? probability : probability / 20;
    if (this.#random.chance(chance)) this.#serveInbox(this.#start());
    scheduler.after(this.#random.between(300, 700), () => {
      if (scheduler.nowMs < plan.workMs) this.#watchInbox(probability);
    });
  }

  #serveInbox(instance: FunctionInstance): void {
    const times = {
      lifeMs: this.#random.logBetween(500, 30_000),
      idleMs: this.#random.logBetween(200, 5_000),
    };
    instance.busy += 1;
    instance.isResident = true;
    const ended = () => {
      instance.busy -= 1;
      instance.isResident = false;
      if (instance.busy === 0) this.#rest(instance);
    };
    instance.process.enter(() => {
      instance.appends.serveInbox(SERVED_LOG, times).then(ended, (error) => {
        this.world.expected(error);
        ended();
      });
    });
    this.world.scheduler.after(this.#random.between(0, times.lifeMs), () => this.#strike(instance));
  }

  /** Takes a request up. What it answers may never come: instances die. */
  serve<T>(call: FleetCall<T>, reply: Reply<T>): void {
    const instance = this.#instance();
    if (instance.isParked) {
      instance.isParked = false;
      instance.process.thaw();
    }
    instance.busy += 1;
    instance.process.enter(() => this.#work(instance, call, reply));
    this.#strike(instance);
  }

  #work<T>(instance: FunctionInstance, { about, act }: FleetCall<T>, reply: Reply<T>): void {
    const { observers } = this.world;
    const request = about.request === undefined ? undefined : delivered(about.request);
    const call = { ...about, process: instance.process, ...(request === undefined ? {} : { request }) };
    observers.functionCalled(call, { kind: "began" });
    const end = (outcome: FunctionOutcome, tell: () => void) => {
      observers.functionCalled(call, outcome);
      tell();
      instance.busy -= 1;
      if (instance.busy === 0) this.#rest(instance);
    };
    act(instance.appends, request).then(
      (value) => end({ kind: "answered", value }, () => reply.answer(value)),
      (error) => {
        this.world.expected(error);
        end({ kind: "failed", error }, () => reply.fail(error));
      },
    );
  }

  /** Releases its leases or keeps them, and is frozen or not, perhaps before its release came through. */
  #rest(instance: FunctionInstance): void {
    const { releases, parks } = this.plan;
    const park = () => {
      if (instance.busy > 0 || instance.process.state !== "running") return;
      instance.process.freeze();
      instance.isParked = true;
    };
    const parksNow = this.#random.chance(parks);
    if (!this.#random.chance(releases)) {
      if (parksNow) park();
      return;
    }
    const released = instance.appends.release();
    if (parksNow && this.#random.chance(0.3)) this.world.scheduler.after(this.#random.between(0, 20), park);
    else if (parksNow) released.then(park);
  }

  #instance(): FunctionInstance {
    const { instancesMax, concurrency, coldStarts } = this.plan;
    const alive = this.instances.filter(({ process, isParked }) => process.state === "running" || isParked);
    const free = alive.filter(({ busy }) => busy < concurrency);
    const mayStart = alive.length < instancesMax;
    if (mayStart && (free.length === 0 || this.#random.chance(coldStarts))) return this.#start();
    return alive.length === 0 ? this.#start() : this.#random.pick(free.length > 0 ? free : alive);
  }

  #start(): FunctionInstance {
    const { world, plan } = this;
    const process = world.startProcess(`${plan.name}/${this.instances.length}`, plan.region);
    process.wallSkewMs = startSkewMs(world, process.name);
    const { append } = composeAnySizes(leasePorts(world, process));
    const instance = { process, appends: append, busy: 0, isParked: false, isResident: false };
    this.instances.push(instance);
    return instance;
  }

  #strike(instance: FunctionInstance): void {
    const { scheduler, faults } = this.world;
    const { process } = instance;
    for (const fault of this.#faults) {
      if (scheduler.nowMs < fault.fromMs || scheduler.nowMs >= fault.toMs) continue;
      if (!this.#random.chance(fault.probability)) continue;
      const inMs = this.#random.logBetween(0.5, STRIKE_WITHIN_MS);
      const frozenMs = this.#random.logBetween(50, Math.max(100, fault.thawByMs - scheduler.nowMs - inMs));
      scheduler.after(inMs, () => {
        if (process.state !== "running" || scheduler.nowMs >= fault.toMs) return;
        faults.count(fault.kind);
        if (fault.kind === "request-crashed") return process.crash();
        process.freeze();
        scheduler.after(Math.min(frozenMs, fault.thawByMs - scheduler.nowMs), () => process.thaw());
      });
    }
  }
}

const delivered = (request: AppendRequest): AppendRequest => ({ ...request, records: [...request.records] });

/** A clock that is wrong from before the instance began. */
function startSkewMs({ plan, scheduler }: World, name: string): number {
  let skewMs = 0;
  for (const fault of plan.faults) {
    if (fault.kind !== "clock-skewed" && fault.kind !== "clock-jumped") continue;
    if (fault.target === name && fault.fromMs <= scheduler.nowMs) skewMs += fault.amount ?? 0;
  }
  return skewMs;
}

/** The fleet of a region. Throws if the plan left it out. */
export function fleetOf({ fleets }: World, inRegion: Region): FunctionFleet {
  const fleet = fleets.get(inRegion);
  if (fleet === undefined) throw unavailable(`no append function in ${inRegion}`, "none");
  return fleet;
}
