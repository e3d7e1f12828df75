/** What every lease store must do: compare-and-set on the version, never on the holder (rule 16). */
import { expect } from "vitest";
import {
  bookieId,
  entryId,
  leaseBirth,
  ledgerId,
  region,
  seqNum,
  tenure,
  writeToken,
} from "../../lib/protocol/ids.ts";
import type { Version } from "../../lib/protocol/items.ts";
import type { Lease, OwnerFailures } from "../../lib/protocol/lease.ts";
import type { LeaseStore, WriteAnswer } from "../../lib/protocol/ports.ts";
import {
  type AdapterTraits,
  type ContractCase,
  describeContract,
  type Opened,
  type OpenedStore,
} from "./contract.ts";
import { persistentLeaseStore } from "./persistent-metadata-store.ts";
import type { Scope } from "./scope.ts";

export const leaseStoreCases: readonly ContractCase<LeaseStore>[] = [
  {
    title: "a lease comes back as it was written; a log without one has none",
    run: async (store, scope) => {
      const log = scope.log();
      expect(await store.read(log)).toBeUndefined();
      const { tail: _, ...fresh } = sampleLease(scope);
      for (const lease of [sampleLease(scope), { ...fresh, suspects: [], clean: false }]) {
        const other = scope.log();
        const version = written(await store.write(other, "absent", lease, scope.token()));
        expect(await store.read(other)).toEqual({ lease, version });
      }
      expect(await store.read(log)).toBeUndefined();
    },
  },
  {
    title: "rule 16: the version decides, whoever the holder is; stale versions are refused for ever",
    run: async (store, scope) => {
      const log = scope.log();
      const lease = sampleLease(scope);
      const versions = [written(await store.write(log, "absent", lease, scope.token()))];
      expect(await store.write(log, "absent", lease, scope.token())).toEqual({ kind: "conflict" });
      for (let round = 1; round <= 3; round++) {
        const next = { ...lease, expiresAtMs: round };
        const current = versions.at(-1) ?? "absent";
        versions.push(written(await store.write(log, current, next, scope.token())));
        for (const stale of versions.slice(0, -1)) {
          expect(await store.write(log, stale, lease, scope.token())).toEqual({ kind: "conflict" });
        }
        expect((await store.read(log))?.lease).toEqual(next);
      }
    },
  },
  {
    title: "both parts of a version count; a version meets no lease where there is none",
    run: async (store, scope) => {
      const log = scope.log();
      const lease = sampleLease(scope);
      const token = scope.token();
      const version: Version = written(await store.write(log, "absent", lease, token));
      expect(version.token).toBe(token);
      for (const wrong of [
        { ...version, token: scope.token() },
        { ...version, revision: version.revision + 1 },
      ]) {
        expect(await store.write(log, wrong, lease, scope.token())).toEqual({ kind: "conflict" });
      }
      expect(await store.write(scope.log(), version, lease, scope.token())).toEqual({ kind: "conflict" });
    },
  },
  {
    title: "of racers for one lease exactly one gets it, and its own lost reply is known by the token",
    run: async (store, scope) => {
      const log = scope.log();
      let expected: Version | "absent" = "absent";
      for (let round = 0; round < 5; round++) {
        const from: Version | "absent" = expected;
        const leases = [1, 2, 3].map(() => sampleLease(scope));
        const answers = await Promise.all(
          leases.map((lease) => store.write(log, from, lease, scope.token())),
        );
        expect(answers.filter((answer) => answer.kind === "written")).toHaveLength(1);
        const winner = answers.findIndex((answer) => answer.kind === "written");
        const found = await store.read(log);
        expect(found?.lease).toEqual(leases[winner]);
        expected = found?.version ?? "absent";
      }
    },
  },
  {
    title: "S23: a release delivered twice does not release the next tenure",
    run: async (store, scope) => {
      const log = scope.log();
      const first = sampleLease(scope);
      const held = written(await store.write(log, "absent", { ...first, clean: false }, scope.token()));
      const release = () => store.write(log, held, { ...first, clean: true }, writeToken("release"));
      const released = written(await release());
      const second = { ...sampleLease(scope), clean: false };
      written(await store.write(log, released, second, scope.token()));
      // The duplicate carries the version of its own tenure, and so finds another one.
      expect(await store.write(log, held, { ...first, clean: true }, scope.token())).toEqual({
        kind: "conflict",
      });
      expect((await store.read(log))?.lease).toEqual(second);
    },
  },
  {
    title: "leases of different logs are apart; changing a given or got lease changes nothing stored",
    run: async (store, scope) => {
      const [one, other] = [scope.log(), scope.log()];
      const lease = sampleLease(scope);
      const expected = structuredClone(lease);
      written(await store.write(one, "absent", lease, scope.token()));
      written(await store.write(other, "absent", { ...lease, holder: "seven" }, scope.token()));
      tamper(lease);
      const got = await store.read(one);
      expect(got?.lease).toEqual(expected);
      if (got !== undefined) tamper(got.lease);
      expect((await store.read(one))?.lease).toEqual(expected);
      expect((await store.read(other))?.lease.holder).toBe("seven");
    },
  },
  {
    title: "failures of an owner come back as they were counted, beside a lease of the same name",
    run: async (store, scope) => {
      const log = scope.log();
      const owner = region(log);
      expect(await store.readFailures(owner)).toBeUndefined();
      const failures = sampleFailures("f0", "f1");
      const version = written(await store.writeFailures(owner, "absent", failures, scope.token()));
      expect(await store.readFailures(owner)).toEqual({ failures, version });
      expect(await store.read(log)).toBeUndefined();
      const lease = sampleLease(scope);
      written(await store.write(log, "absent", lease, scope.token()));
      expect((await store.readFailures(owner))?.failures).toEqual(failures);
      expect((await store.read(log))?.lease).toEqual(lease);
    },
  },
  {
    title: "of racers that count a failure exactly one is written; stale versions are refused for ever",
    run: async (store, scope) => {
      const owner = region(scope.log());
      const versions: (Version | "absent")[] = ["absent"];
      for (let round = 0; round < 3; round++) {
        const from = versions.at(-1) ?? "absent";
        const counts = [1, 2, 3].map((racer) => sampleFailures(`f${round}.${racer}`));
        const answers = await Promise.all(
          counts.map((failures) => store.writeFailures(owner, from, failures, scope.token())),
        );
        expect(answers.filter((answer) => answer.kind === "written")).toHaveLength(1);
        const winner = answers.findIndex((answer) => answer.kind === "written");
        const found = await store.readFailures(owner);
        expect(found?.failures).toEqual(counts[winner]);
        for (const stale of versions) {
          const again = store.writeFailures(owner, stale, sampleFailures(), scope.token());
          expect(await again).toEqual({ kind: "conflict" });
        }
        versions.push(found?.version ?? "absent");
      }
    },
  },
];

export function leaseStoreContract(
  name: string,
  open: () => Promise<OpenedStore<LeaseStore>>,
  traits: AdapterTraits = {},
): void {
  describeContract({
    ...traits,
    name: `lease store: ${name}`,
    cases: leaseStoreCases,
    open: async (): Promise<Opened<LeaseStore>> => {
      const { store, close } = await open();
      return { port: (edge) => (edge === undefined ? store : persistentLeaseStore(edge(store))), close };
    },
  });
}

/** A lease of a tenure of its own. */
export function sampleLease(scope: Scope): Lease {
  return {
    birth: leaseBirth("b1rth"),
    tenure: scope.tenure(),
    holder: "append us-east-1 i-0",
    expiresAtMs: 1_700_000_000_000,
    clean: true,
    wanted: false,
    tail: {
      ledgerId: ledgerId(2 ** 53 - 1),
      ledgerVersion: { revision: 3, token: writeToken("t0ken") },
      lastAddConfirmed: entryId(-1),
      nextSeqNum: seqNum(12),
      lastTimestampMs: 1_700_000_000_000,
      ledgerBytes: 1_024,
    },
    suspects: [bookieId("us-east-1.b1~s1")],
    contest: { region: region("us-west-2"), times: 2, aloneUntilMs: 1_700_000_000_900 },
    owed: [{ tenure: tenure("t1"), ledgerId: ledgerId(7), keptAtMs: 1_700_000_000_000 }],
    floor: 4,
  };
}

export const sampleFailures = (...names: string[]): OwnerFailures => ({
  failures: names.map(writeToken),
  firstAtMs: 1_700_000_000_000,
  lastAtMs: 1_700_000_000_900,
});

/** What the types forbid; a store may answer with a frozen lease, which throws. */
function tamper(lease: Lease): void {
  const changeable = lease as unknown as { ledgerBytes: number; suspects: string[] };
  try {
    changeable.suspects.push("us-east-1.b9~s9");
    changeable.ledgerBytes = 99;
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
  }
}

function written(answer: WriteAnswer): Version {
  if (answer.kind !== "written") throw new Error("the write was refused");
  return answer.version;
}
