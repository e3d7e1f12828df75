/**
 * The writer under random answers, lost replies, refusals, late arrivals, time-outs of bookies and metadata:
 * what is acknowledged is on an ACK set of the persisted ensemble, and stays in the ledger.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { unavailable } from "../../../lib/protocol/errors.ts";
import { type BookieId, type EntryId, entryId } from "../../../lib/protocol/ids.ts";
import { ledgerKey } from "../../../lib/protocol/items.ts";
import { createLedger } from "../../../lib/protocol/ledger/create-ledger.ts";
import type { LedgerPorts } from "../../../lib/protocol/ledger/ledger-ports.ts";
import { LedgerReader } from "../../../lib/protocol/ledger/ledger-reader.ts";
import { LedgerWriter } from "../../../lib/protocol/ledger/ledger-writer.ts";
import { fragmentAt, type LedgerMetadata, lastFragment } from "../../../lib/protocol/ledger-metadata.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import type { Placement } from "../../../lib/protocol/placement/placement.ts";
import { isAckSet, writeSet } from "../../../lib/protocol/replication.ts";
import { EXHAUSTIVE } from "../../cpu-bound.ts";
import { endOf } from "../../scenarios/cards/meddling.ts";
import { textOf, World } from "../../scenarios/world.ts";

type Fate = "answered" | "reply lost" | "refused";

type Step =
  | { readonly kind: "add" }
  /** One of the calls that wait at the gate meets its fate. */
  | { readonly kind: "let through"; readonly which: number; readonly fate: Fate }
  | { readonly kind: "time"; readonly ms: number }
  | { readonly kind: "read" }
  | { readonly kind: "recover" };

/** The writer's calls wait here until the test decides on them; then, or when it is open, they go through. */
class Gate {
  #waiting: ((fate: Fate) => void)[] = [];
  #open = false;

  async through<T>(effect: () => Promise<T>): Promise<T> {
    const fate = this.#open ? "answered" : await new Promise<Fate>((go) => this.#waiting.push(go));
    if (fate === "refused") throw unavailable("refused");
    const answer = await effect();
    if (fate === "reply lost") throw unavailable("the reply is lost");
    return answer;
  }

  letThrough(which: number, fate: Fate): void {
    if (this.#waiting.length === 0) return;
    const [go] = this.#waiting.splice(which % this.#waiting.length, 1);
    go?.(fate);
  }

  open(): void {
    this.#open = true;
    for (const go of this.#waiting.splice(0)) go("answered");
  }
}

function gated(ports: LedgerPorts, gate: Gate): LedgerPorts {
  const { metadata, bookies } = ports;
  return {
    ...ports,
    bookies: {
      bookie: (id) => {
        const bookie = bookies.bookie(id);
        return { ...bookie, add: (entry) => gate.through(() => bookie.add(entry)) };
      },
    },
    metadata: {
      get: (...args) => gate.through(() => metadata.get(...args)),
      write: (...args) => gate.through(() => metadata.write(...args)),
      remove: (...args) => metadata.remove(...args),
      query: (...args) => metadata.query(...args),
    },
  };
}

/** No placement answers with an ensemble that can form no ACK set; one that makes an ACK set rarer it may. */
function sane(placement: Placement): Placement {
  const replaceBookies: Placement["replaceBookies"] = (request) => {
    const answer = placement.replaceBookies(request);
    if (answer.kind === "refused") return answer;
    const fragment = { firstEntry: entryId(0), ensemble: answer.ensemble };
    const windows = answer.ensemble.map((_, start) =>
      writeSet(entryId(start), fragment, request.replication),
    );
    if (windows.every((set) => isAckSet(set, request.replication))) return answer;
    return { kind: "refused", reason: "it spans too few regions" };
  };
  return { ...placement, replaceBookies };
}

interface Acknowledgement {
  readonly entry: EntryId;
  readonly ledger: LedgerMetadata;
  readonly holders: ReadonlySet<BookieId>;
}

/** One random run, and everything that was seen of it. */
class Run {
  readonly outcomes: Promise<string>[] = [];
  readonly acknowledgements: Promise<Acknowledgement>[] = [];
  readonly versions: LedgerMetadata[] = [];
  /** What strong readers returned. */
  readonly returned = new Map<number, string>();
  recovery: Promise<LedgerMetadata | undefined> | undefined;

  private constructor(
    readonly w: World,
    readonly writer: LedgerWriter,
    readonly gate: Gate,
  ) {}

  static async start(
    bookies: readonly string[],
    quorums: readonly [number, number, number],
    minRegions: number,
  ) {
    const w = await World.make({ bookies, quorums, minRegions });
    const ports = w.ports("W", "a");
    const ledger = await w.run(createLedger(ports, { replication: w.replication, digest: w.digest }));
    w.ledgerId = ledger.item.ledgerId;
    const events: { note?: (entry: EntryId) => void } = {};
    const trace = {
      emit: (event: Parameters<LedgerPorts["trace"]["emit"]>[0]) => {
        if (event.event === "entry-acknowledged") events.note?.(event.entryId);
      },
    };
    const gate = new Gate();
    const run = new Run(
      w,
      new LedgerWriter({ ...gated(ports, gate), trace, placement: sane(ports.placement) }, ledger),
      gate,
    );
    events.note = (entry) => run.acknowledgements.push(run.#snapshot(entry));
    run.versions.push(await w.ledger());
    w.faults.at({ port: "metadata", call: "write" }, "after", Number.POSITIVE_INFINITY, async () => {
      run.versions.push(await w.ledger());
    });
    return run;
  }

  async take(step: Step): Promise<void> {
    const { w } = this;
    if (step.kind === "add") {
      const text = `entry ${this.outcomes.length}`;
      const add = this.writer.add(new TextEncoder().encode(text));
      this.outcomes.push(
        add.then(
          ({ entryId: id }) => `acknowledged ${id}`,
          (error) => error.sideEffects,
        ),
      );
    } else if (step.kind === "let through") this.gate.letThrough(step.which, step.fate);
    else if (step.kind === "time") await w.clock.advance(step.ms);
    else if (step.kind === "read") await this.#read();
    else this.recovery ??= w.recovery("R");
    await w.idle();
  }

  async #read(): Promise<void> {
    const reader = new LedgerReader(this.w.ports(`T${this.returned.size}`, "b"), this.w.theLedger());
    for (let entry = 0; ; entry++) {
      const read = await this.w.run(reader.read(entryId(entry), "strong"));
      if (read.kind !== "entry") return;
      this.returned.set(entry, textOf(read.entry));
    }
  }

  /** Metadata and copies as they are at this very moment: the stores take each call at once. */
  async #snapshot(entry: EntryId): Promise<Acknowledgement> {
    const { w } = this;
    const stored = w.metadata.get(ledgerKey(w.theLedger()), "consistent");
    const copies = w.addresses.map(async ({ id }) => {
      const key = { kind: "slot", ledgerId: w.theLedger(), entryId: entry } as const;
      const value = await w.store(id).get(key);
      const mine = value?.kind === "original" && textOf(value.entry) === `entry ${entry}`;
      return mine ? [id] : [];
    });
    const item = (await stored)?.item;
    if (item?.kind !== "ledger") throw new Error("no ledger");
    return { entry, ledger: item, holders: new Set((await Promise.all(copies)).flat()) };
  }

  /** Faults end; everything that is under way comes to an end, and the ledger is recovered. */
  async finish(): Promise<{ outcomes: string[]; closed: LedgerMetadata | undefined }> {
    this.gate.open();
    const outcomes = await this.w.run(Promise.all(this.outcomes));
    const closed = await this.w.run(this.recovery ?? this.w.recovery("R"));
    await this.w.clock.advance(limits.bookieCallTimeoutMs * 4);
    return { outcomes, closed };
  }
}

const anyFate = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Fate>("answered") },
  { weight: 2, arbitrary: fc.constant<Fate>("reply lost") },
  { weight: 3, arbitrary: fc.constant<Fate>("refused") },
);

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Step>({ kind: "add" }) },
  {
    weight: 20,
    arbitrary: fc.record({ kind: fc.constant("let through" as const), which: fc.nat(40), fate: anyFate }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("time" as const),
      ms: fc.constantFrom(limits.bookieCallPauseMs, limits.bookieCallPauseMs, limits.bookieCallTimeoutMs),
    }),
  },
  { weight: 2, arbitrary: fc.constant<Step>({ kind: "read" }) },
);

const shapes = fc.constantFrom<[readonly string[], [number, number, number], number]>(
  [["B0", "B1", "B2", "B3", "B4"], [3, 3, 2], 1],
  [["B0", "B1", "B2", "B3"], [2, 2, 2], 1],
  [["B0", "B1", "B2", "B3"], [2, 2, 1], 1],
  [["B0", "B1", "B2", "B3", "B4", "B5"], [4, 2, 2], 1],
  [["B0", "B1", "B2", "B3", "B4"], [3, 2, 1], 1],
  [["A0@a", "B0@b", "A1@a", "B1@b", "A2@a", "B2@b"], [4, 4, 3], 2],
  [["A0@a", "B0@b", "B1@b", "A1@a", "B2@b", "B3@b"], [4, 4, 2], 2], // an ack quorum may lie in one region
);

function checkAcknowledgements(acknowledgements: readonly Acknowledgement[]): void {
  expect(acknowledgements.map((one) => one.entry)).toEqual(acknowledgements.map((_, index) => index));
  for (const { entry, ledger, holders } of acknowledgements) {
    const set = writeSet(entry, fragmentAt(ledger, entry), ledger.replication);
    const held = set.filter((member) => holders.has(member.id));
    const what = `${entry} acknowledged on ${[...holders]} of ${set.map((member) => member.id)}`;
    expect(isAckSet(held, ledger.replication), what).toBe(true);
  }
}

/** Rules 6c and 7 over all versions of the metadata that the writer made. */
function checkVersions(versions: readonly LedgerMetadata[]): void {
  const gone = new Set<BookieId>();
  versions.forEach((now, index) => {
    const before = versions[index - 1];
    const keys = now.fragments.map((one) => one.firstEntry as number);
    expect(keys).toEqual([...new Set(keys)].sort((one, other) => one - other));
    if (before === undefined || now.state !== "OPEN") return;
    const members = lastFragment(now).ensemble.map((member) => member.id);
    for (const { id } of lastFragment(before).ensemble) if (!members.includes(id)) gone.add(id);
    expect(members.filter((id) => gone.has(id))).toEqual([]);
    expect([...gone].filter((id) => !now.retired.includes(id))).toEqual([]);
    // Only the last fragment is replaced, or one is added behind it.
    const kept = before.fragments.slice(0, now.fragments.length > before.fragments.length ? undefined : -1);
    expect(now.fragments.slice(0, kept.length)).toEqual(kept);
  });
}

describe("random failures and interleavings", () => {
  const seen = { changes: 0, acknowledged: 0, returned: 0, stopped: 0 };

  async function play(shape: Parameters<typeof Run.start>, steps: readonly Step[]): Promise<void> {
    const run = await Run.start(...shape);
    for (const step of steps) await run.take(step);
    const { outcomes, closed } = await run.finish();
    const acknowledgements = await Promise.all(run.acknowledgements);
    checkAcknowledgements(acknowledgements);
    checkVersions(run.versions);
    seen.changes += run.versions.filter((one) => one.state === "OPEN").length - 1;
    seen.acknowledged += acknowledgements.length;
    seen.returned += run.returned.size;
    seen.stopped += run.writer.stopped === undefined ? 0 : 1;

    // Callers got their answers in order, each once, and by what happened to their own entry.
    const acked = outcomes.filter((outcome) => outcome.startsWith("acknowledged"));
    expect(acked).toEqual(acknowledgements.map(({ entry }) => `acknowledged ${entry}`));
    expect(outcomes.slice(0, acked.length)).toEqual(acked);
    outcomes.forEach((outcome, index) => {
      if (index > run.writer.lastAddPushed) expect(outcome).toBe("none");
      else if (index >= acked.length) expect(outcome).toBe("possible");
    });

    const end = endOf(closed);
    expect(end).toBeGreaterThanOrEqual(acknowledgements.length - 1);
    const reader = new LedgerReader(run.w.ports("after"), run.w.theLedger());
    for (let entry = 0; entry <= end; entry++) {
      const read = await run.w.run(reader.read(entryId(entry), "strong"));
      expect(read.kind === "entry" ? textOf(read.entry) : read.kind).toBe(`entry ${entry}`);
    }
    // What a strong reader returned at any time is part of the ledger for ever.
    for (const [entry, text] of run.returned) {
      expect([entry <= end, text], `entry ${entry} was returned`).toEqual([true, `entry ${entry}`]);
    }
  }

  test("acknowledged is on an ACK set of the persisted ensemble (rules 5 to 7)", EXHAUSTIVE, async () => {
    const steps = fc.array(anyStep, { minLength: 20, maxLength: 120, size: "max" });
    await fc.assert(fc.asyncProperty(shapes, steps, play), { seed: 2_107, numRuns: 100 });
    expect(seen.changes).toBeGreaterThan(30);
    expect(seen.acknowledged).toBeGreaterThan(300);
    expect(seen.returned).toBeGreaterThan(50);
  });

  test("the same with a recovery that starts at any time (rules 8, 10 to 12)", EXHAUSTIVE, async () => {
    const early = fc.array(anyStep, { minLength: 10, maxLength: 80, size: "max" });
    const late = fc.array(anyStep, { minLength: 10, maxLength: 40, size: "max" });
    const stoppedBefore = seen.stopped;
    await fc.assert(
      fc.asyncProperty(shapes, early, late, (shape, before, after) =>
        play(shape, [...before, { kind: "recover" }, ...after]),
      ),
      { seed: 2_107, numRuns: 100 },
    );
    expect(seen.stopped - stoppedBefore).toBeGreaterThan(50);
  });
});
