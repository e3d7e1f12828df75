/** The writer lease, step by step (rules 16 to 20). */
import { describe, expect, test } from "vitest";
import {
  bookieId,
  entryId,
  ledgerId,
  logIncarnation,
  seqNum,
  writeToken,
} from "../../../../lib/protocol/ids.ts";
import type { LedgerTail } from "../../../../lib/protocol/lease.ts";
import { limits } from "../../../../lib/protocol/limits.ts";
import {
  type AcquiredLease,
  acquireLease,
  type LeasePorts,
  releaseLease,
  renewLease,
} from "../../../../lib/protocol/log/lease/lease-steps.ts";
import { isRenewalDue } from "../../../../lib/protocol/log/lease/writer-lease.ts";
import { TestClock } from "../../../scenarios/test-clock.ts";
import { LeaseStoreUnderTest } from "./lease-store-under-test.ts";

const log = logIncarnation("orders");
const B0 = bookieId("B0");
const tail: LedgerTail = {
  ledgerId: ledgerId(7),
  ledgerVersion: { revision: 1, token: writeToken("v") },
  lastAddConfirmed: entryId(3),
  nextSeqNum: seqNum(4),
  lastTimestampMs: 5,
  ledgerBytes: 6,
};

async function acquired(ports: LeasePorts, holder: string): Promise<AcquiredLease> {
  const answer = await acquireLease(ports, log, holder, false);
  if (answer.kind !== "acquired") throw new Error(answer.kind);
  return answer;
}

/** A region's lease table and processes whose wall clocks run apart by what the story says. */
class Region {
  readonly leases = new LeaseStoreUnderTest();
  readonly clock = new TestClock();
  #random = 1;

  ports(skewMs = 0): LeasePorts {
    const { clock } = this;
    const skewed = {
      nowMs: () => clock.nowMs() + skewMs,
      monotonicMs: () => clock.monotonicMs(),
      startTimer: (delayMs: number, fire: () => void) => clock.startTimer(delayMs, fire),
    };
    return { leases: this.leases, clock: skewed, random: { uint32: () => this.#random++ } };
  }

  acquire(holder: string, skewMs = 0) {
    return this.clock.run(acquired(this.ports(skewMs), holder));
  }

  async handOver(left = tail) {
    const { held } = await this.acquire("A");
    await releaseLease(this.ports(), held, { tail: left, suspects: [] });
    return held;
  }

  async stored() {
    return (await this.leases.store.read(log))?.lease;
  }
}

describe("acquire", () => {
  test("20: no item at all is not clean; each acquire draws a new tenure", async () => {
    const r = new Region();
    const first = await r.acquire("A");
    expect(first.tail).toBeUndefined();
    await releaseLease(r.ports(), first.held, { tail, suspects: [B0] });
    const second = await r.acquire("A");
    expect(second.tail).toEqual(tail);
    expect(second.held.lease.tenure).not.toBe(first.held.lease.tenure);
    expect(second.held.lease).toMatchObject({ clean: false, wanted: false, suspects: [B0] });
  });

  test.each(["before", "after"] as const)("18: a reply lost %s its effect", async (loss) => {
    const r = new Region();
    await r.handOver();
    r.leases.losses.push(loss);
    const { tail: found } = await r.acquire("B");
    // Nothing happened: the next try is the caller's own and counts. It happened: held, and not clean.
    expect(found).toEqual(loss === "before" ? tail : undefined);
  });

  test("18: released without a tail is not clean", async () => {
    const r = new Region();
    const { held } = await r.acquire("A");
    await releaseLease(r.ports(), held, { suspects: [] });
    expect(await r.stored()).toMatchObject({ clean: false, expiresAtMs: 0 });
    expect((await r.acquire("B")).tail).toBeUndefined();
  });

  test("a tail of long ago does not count once a later holder left without a clean release", async () => {
    const r = new Region();
    await r.handOver();
    await r.acquire("B");
    r.clock.jump(limits.leaseTtlMs);
    expect((await r.acquire("C")).tail).toBeUndefined();
  });

  test("waits for a dead holder's lease, no longer than that, and asks for it", async () => {
    const r = new Region();
    await r.acquire("dead");
    const started = r.clock.nowMs();
    const acquired = r.acquire("B");
    expect((await acquired).held.lease.holder).toBe("B");
    expect(r.clock.nowMs() - started).toBeLessThan(limits.leaseTtlMs + 3 * limits.leasePollMs);
    expect(r.leases.writes.map(({ lease }) => lease.wanted)).toEqual([false, true, false]);
  });

  test("a holder that renews is waited for, then the append is not_ready and says when to come back", async () => {
    const r = new Region();
    let { held } = await r.acquire("A");
    const waiting = acquireLease(r.ports(), log, "B", false);
    for (let ms = 0; ms < limits.leaseWaitMs + 100; ms += 100) {
      await r.clock.advance(100);
      const renewal = await renewLease(r.ports(), held, []);
      if (renewal.kind === "kept") ({ held } = renewal);
    }
    expect(await waiting).toMatchObject({
      kind: "held",
      error: { code: "not_ready", sideEffects: "none", details: { retry_after_ms: expect.any(Number) } },
    });
    expect(held.lease.wanted).toBe(true);
  });

  test.each([3_600_000, -3_600_000])("a holder's clock that is %d ms off delays nobody", async (skewMs) => {
    const r = new Region();
    await r.acquire("A", skewMs);
    const started = r.clock.nowMs();
    await r.acquire("B");
    expect(r.clock.nowMs() - started).toBeLessThan(limits.leasePollMs);
  });

  test("a clock a little ahead of the others' keeps its lease, and delays them for one lease at most", async () => {
    const r = new Region();
    await r.acquire("A", limits.leaseSkewMaxMs - 1);
    const started = r.clock.nowMs();
    await r.acquire("B");
    expect(r.clock.nowMs() - started).toBeGreaterThanOrEqual(limits.leaseTtlMs);
    expect(r.clock.nowMs() - started).toBeLessThan(limits.leaseTtlMs + 3 * limits.leasePollMs);
  });

  test("of fifty that want it at once one has it", async () => {
    const r = new Region();
    const names = Array.from({ length: 50 }, (_, index) => `i${index}`);
    const all = names.map((name) => acquired(r.ports(), name));
    const outcomes = r.clock.run(Promise.allSettled(all.slice()));
    await r.clock.advance(limits.leaseTtlMs - 1);
    expect((await r.stored())?.holder).toMatch(/^i/);
    const now = await Promise.race([Promise.any(all).then(() => "one"), r.clock.idle().then(() => "none")]);
    expect(now).toBe("one");
    const held = (await outcomes).flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const tenures = held.map((one) => one.held.lease.tenure);
    expect(new Set(tenures).size).toBe(tenures.length);
  });

  test("a lease table that is down makes the region unable to own", async () => {
    const r = new Region();
    r.leases.isSilent = true;
    expect(await r.clock.run(acquireLease(r.ports(), log, "A", false))).toMatchObject({
      kind: "cannot-own",
      error: { code: "region_unavailable", sideEffects: "none", details: { cannot_own: true } },
    });
  });
});

describe("renew", () => {
  test("prolongs an expired lease that nobody took, and says when it is due", async () => {
    const r = new Region();
    const { held } = await r.acquire("A");
    expect(isRenewalDue(r.clock, held)).toBe(false);
    r.clock.jump(limits.leaseTtlMs - limits.leaseRenewAheadMs + 1);
    expect(isRenewalDue(r.clock, held)).toBe(true);
    r.clock.jump(3_600_000);
    const renewal = await renewLease(r.ports(), held, [B0]);
    expect(renewal.kind).toBe("kept");
    expect(await r.stored()).toMatchObject({ suspects: [B0], tenure: held.lease.tenure });
  });

  test("16: another tenure is lost, also under the same holder's name", async () => {
    const r = new Region();
    const { held } = await r.acquire("A");
    r.clock.jump(limits.leaseTtlMs);
    await r.acquire("A");
    expect((await renewLease(r.ports(), held, [])).kind).toBe("lost");
    expect(await releaseLease(r.ports(), held, { tail, suspects: [] })).toBe("lost");
    expect(await r.stored()).toMatchObject({ clean: false });
  });

  test.each(["before", "after"] as const)("a reply lost %s its effect: kept", async (loss) => {
    const r = new Region();
    const { held } = await r.acquire("A");
    r.leases.losses.push(loss);
    const renewal = await renewLease(r.ports(), held, []);
    expect(renewal.kind).toBe("kept");
  });

  test("with the table down it is not known", async () => {
    const r = new Region();
    const { held } = await r.acquire("A");
    r.leases.isSilent = true;
    expect(await renewLease(r.ports(), held, [])).toEqual({ kind: "unknown" });
  });
});

test("S23 (16): a release that is executed twice frees nobody else's tenure", async () => {
  const r = new Region();
  await r.handOver();
  const release = r.leases.writes.at(-1);
  const { held } = await r.acquire("A");
  if (release === undefined) throw new Error("no release was written");
  expect(await r.leases.store.write(log, release.expected, release.lease, release.token)).toEqual({
    kind: "conflict",
  });
  expect(await r.stored()).toMatchObject({ clean: false, tenure: held.lease.tenure });
});
