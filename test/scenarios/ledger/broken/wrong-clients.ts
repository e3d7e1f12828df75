/**
 * Clients with one rule broken each, by what they are given: a port that answers as the broken rule would
 * have it. `only` breaks one client of a story and leaves the others as they are.
 */
import { bookieId } from "../../../../lib/protocol/ids.ts";
import type { LedgerPorts } from "../../../../lib/protocol/ledger/ledger-ports.ts";
import type { LedgerMetadata } from "../../../../lib/protocol/ledger-metadata.ts";
import type { Bookie, MetadataStore, Versioned } from "../../../../lib/protocol/ports.ts";
import type { Fragment } from "../../../../lib/protocol/replication.ts";

type Breaks = (ports: LedgerPorts) => LedgerPorts;

export function only(client: string, breaks: Breaks) {
  return each({ [client]: breaks });
}

/** Breaks several clients of a story, each in its own way. */
export function each(wrong: Readonly<Record<string, Breaks>>) {
  return (ports: LedgerPorts, client: string): LedgerPorts => wrong[client]?.(ports) ?? ports;
}

/** T2 takes Recovered copies for Originals (rule 13). */
export const countsRecovered: Breaks = (ports) =>
  withBookies(ports, (bookie) => ({
    read: async (ledgerId, entryId) => {
      const answer = await bookie.read(ledgerId, entryId);
      return answer.kind === "entry" ? { ...answer, copy: "original" } : answer;
    },
  }));

/** What was once read from the metadata store is taken for the present (rule 14). */
export const neverReadsAgain: Breaks = (ports) => {
  const first = new Map<string, Promise<Versioned | undefined>>();
  return withMetadata(ports, {
    get: (key, consistency) => {
      const answer = first.get(key.partition) ?? ports.metadata.get(key, consistency);
      first.set(key.partition, answer);
      return answer;
    },
  });
};

/** Sees a ledger's metadata otherwise than it is. */
export function sees(change: (ledger: LedgerMetadata) => Partial<LedgerMetadata>): Breaks {
  return (ports) =>
    withMetadata(ports, {
      get: async (key, consistency) => {
        const read = await ports.metadata.get(key, consistency);
        if (read?.item.kind !== "ledger") return read;
        return { ...read, item: { ...read.item, ...change(read.item) } as LedgerMetadata };
      },
    });
}

/** Recovery asks the last ensemble for every entry, from the highest LAC answered on (rule 10). */
export const startsTooLow: Breaks = sees(({ fragments }) => {
  const last = fragments.at(-1) as Fragment;
  return { fragments: [{ ...last, firstEntry: fragments[0]?.firstEntry ?? last.firstEntry }] };
});

/** Recovery asks `other` for entries from `first` on where the metadata names `member` (rule 11). */
export function asksReplacement(member: string, other: string, first: number): Breaks {
  return (ports) =>
    withBookies(ports, (bookie) => ({
      recoveryRead: (ledgerId, entryId) => {
        const asked = bookie.id === bookieId(member) && entryId >= first;
        const named = asked ? ports.bookies.bookie(bookieId(other)) : bookie;
        return named.recoveryRead(ledgerId, entryId);
      },
    }));
}

/** A write-back counts bookies that do not answer (rule 11). */
export const countsTheDead: Breaks = (ports) =>
  withBookies(ports, (bookie) => ({
    recoveryAdd: (entry) => bookie.recoveryAdd(entry).catch(() => ({ kind: "ok" })),
  }));

/** Closes with the fragments that the metadata had, not with those that recovery wrote to (rule 12). */
export const leavesLocalFragmentsOut: Breaks = (ports) =>
  withMetadata(ports, {
    write: async (key, expected, item, token) => {
      const now = (await ports.metadata.get(key, "consistent"))?.item;
      const old = now?.kind === "ledger" && item.kind === "ledger" ? { fragments: now.fragments } : {};
      return await ports.metadata.write(key, expected, { ...item, ...old }, token);
    },
  });

/** Writes metadata over whatever is there (rule 12). */
export const overwritesMetadata: Breaks = (ports) =>
  withMetadata(ports, {
    write: async (key, expected, item, token) => {
      const answer = await ports.metadata.write(key, expected, item, token);
      if (answer.kind === "written") return answer;
      const now = await ports.metadata.get(key, "consistent");
      return await ports.metadata.write(key, now?.version ?? "absent", item, token);
    },
  });

/** The copy to a replacement is counted now and sent after the metadata is written (rule 6b). */
export function copiesLater(replacement: string): Breaks {
  return (ports) =>
    withBookies(ports, (bookie) =>
      bookie.id === bookieId(replacement) ? { add: async () => ({ kind: "ok" }) } : {},
    );
}

/** Any bookie may be the replacement, also one that left an ensemble before (rule 7). */
export const takesAnyReplacement: Breaks = (ports) => ({
  ...ports,
  placement: {
    ...ports.placement,
    replaceBookies: (request) =>
      ports.placement.replaceBookies({ ...request, excluded: new Set(), retired: new Set() }),
  },
});

/** The seal is said to be there and is not (rule 9). */
export const sealsNothing: Breaks = (ports) =>
  withBookies(ports, () => ({ seal: async () => ({ kind: "sealed" }) }));

/** Its wall clock stood still while the process was frozen (rule 15). */
export const noticesNoTime: Breaks = (ports) => {
  const { clock } = ports;
  const [nowMs, monotonicMs] = [clock.nowMs(), clock.monotonicMs()];
  return {
    ...ports,
    clock: {
      nowMs: () => nowMs,
      monotonicMs: () => monotonicMs,
      startTimer: (delayMs, fire) => clock.startTimer(delayMs, fire),
    },
  };
};

function withBookies(ports: LedgerPorts, change: (bookie: Bookie) => Partial<Bookie>): LedgerPorts {
  return {
    ...ports,
    bookies: {
      bookie: (id) => {
        const bookie = ports.bookies.bookie(id);
        return { ...bookie, ...change(bookie) };
      },
    },
  };
}

function withMetadata(ports: LedgerPorts, change: Partial<MetadataStore>): LedgerPorts {
  return { ...ports, metadata: { ...ports.metadata, ...change } };
}
