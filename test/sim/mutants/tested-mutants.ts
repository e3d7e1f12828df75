/** Wrong versions that no seed is known to show, and that one test catches. */
import { inboxMutants } from "./inbox-mutants.ts";
import type { TestedMutant, WrongVersion } from "./mutant.ts";

export const testedMutants: readonly TestedMutant[] = [
  ...inboxMutants,
  {
    name: "a-seal-counts-any-occupant",
    breaks: "rule 9: an occupied slot means that the close is not clean",
    patches: [
      {
        in: "StoredBookie.seal",
        from: `(await this.#occupant(slot)).kind === "tombstone"`,
        to: `(await this.#occupant(slot)).kind !== "fence"`,
      },
    ],
    caughtBy: {
      file: "test/protocol/ledger/close-ledger.test.ts",
      title: "counts Tombstones only, placed or found; true again when run twice",
    },
  },
  {
    name: "a-failed-append-is-a-failure",
    breaks: "OF2: only a question that stayed without an answer is",
    patches: [
      {
        in: "OwnerCalls.forward",
        from: "this.detector.noteDoubt(owner)",
        to: "await this.detector.countFailure(owner)",
      },
    ],
    caughtBy: {
      file: "test/scenarios/log/counted-answers.test.ts",
      title: "OF2: an append that its owner does not answer is no failure, and makes the region doubtful",
    },
  },
  {
    name: "the-check-overlooks-the-trim-point",
    breaks: "rule 25: not trimmed past this key",
    patches: [
      { in: "checkPlace", from: "item.trimPoint > first", to: "item.trimPoint > first && first < 0" },
    ],
    caughtBy: {
      file: "test/scenarios/log/elections.test.ts",
      title: "T01 (25, 31): an opener that thaws below the trim point wins, fails the check, and is removed",
    },
  },
  {
    name: "a-resume-notes-the-last-batch-twice",
    breaks: "rule 19: a resumed writer's table of producers goes on behind what it has noted",
    patches: [{ in: "producersIn", file: "writer-lease.ts", from: "nextEntry(since)", to: "since" }],
    caughtBy: {
      file: "test/scenarios/log/producers.test.ts",
      title: "who comes back reads only what was added since",
    },
  },
  {
    name: "timestamps-begin-anew",
    breaks: "a log's timestamps never go back from one record to the next",
    patches: [
      { in: "resumeSegment", from: "tail.lastTimestampMs", to: "0" },
      { in: "placeBehind", from: "end.lastTimestampMs ?? 0", to: "0" },
    ],
    caughtBy: {
      file: "test/scenarios/log/leases.test.ts",
      title: "19: timestamps do not fall where the lease changes hands, also after a control entry",
    },
  },
  {
    name: "an-answer-removes-no-failures",
    breaks: "OF4: an answer removes what was counted",
    patches: [
      {
        in: "OwnerFailureDetector.noteAnswer",
        from: "this.#publish(this.#removeFailures(region));",
        to: "",
      },
    ],
    caughtBy: {
      file: "test/protocol/log/ownership/owner-failure-detector.test.ts",
      title: "OF4: one answer between them, whatever it said, and it begins anew",
    },
  },
  {
    name: "the-bare-last-loses-its-predecessor",
    breaks: "rule 31: an empty last segment keeps the one before it",
    patches: [{ in: "auditSegments", from: "isNeeded ? -2 : -1", to: "-1" }],
    caughtBy: {
      file: "test/scenarios/log/producers.test.ts",
      title: "keeps what is before it from the auditor, until it holds a record (31)",
    },
  },
  {
    name: "metadata-from-a-clock-that-went-back-is-fresh",
    breaks: "rule 15: metadata whose age nobody can say is read again",
    patches: [
      {
        in: "Age.ms",
        from: "wallMs < 0 || monotonicMs < 0 ? Number.POSITIVE_INFINITY : Math.max(wallMs, monotonicMs)",
        to: "Math.max(wallMs, monotonicMs)",
      },
    ],
    caughtBy: {
      file: "test/scenarios/ledger/freshness.test.ts",
      title: "and a wall clock that went back counts as old",
    },
  },
  {
    name: "the-registrys-age-by-one-clock",
    breaks: "RG3: a copy that is old by either clock is read anew before a request uses it",
    patches: ["load", "#refresh"].map((member) => ({
      in: `Registry.${member}`,
      from: "new Age(this.ports.clock)",
      to: "new Age({ nowMs: () => 0, monotonicMs: () => this.ports.clock.monotonicMs() })",
    })),
    caughtBy: {
      file: "test/protocol/placement/registry.test.ts",
      title:
        "RG3: an operator's word reaches a function with one request a minute, frozen in between, with the first",
    },
  },
  {
    name: "quarantine-is-for-good",
    breaks: "BH5: a stay ends, by either clock",
    patches: [
      {
        in: "BookieHealth.isQuarantined",
        from: "stay?.age.isWithin(stay.ms) === true",
        to: "stay !== undefined",
      },
    ],
    caughtBy: {
      file: "test/protocol/reads/quarantine.test.ts",
      title: "a clock that jumped makes all of it too old: a suspended host begins anew",
    },
  },
  {
    name: "reads-learn-of-no-quarantine",
    breaks: "BH8: reads and writes share one model of a bookie's health",
    patches: [
      { in: "BookieHealth.callFailed", from: "if (isAdmitted) this.#raise(readLimits.alarmMax);", to: "" },
    ],
    caughtBy: {
      file: "test/protocol/reads/quarantine.test.ts",
      title:
        "BH8: a bookie that goes into quarantine is a suspect of reads, until it answers the one or the other",
    },
  },
  {
    name: "expired-appends-are-sent",
    breaks: "nothing is sent after the deadline of who asked",
    patches: [{ in: "AppendQueue.takeGroup", from: "for (const append of group) append.expire();", to: "" }],
    caughtBy: {
      file: "test/scenarios/log/frozen-appends.test.ts",
      title: "before any call (its clocks jump): the record is in the log once",
    },
  },
  {
    name: "a-takeover-of-any-epoch",
    breaks: "a takeover is of the ownership that the asker saw",
    patches: [
      {
        in: "LogAppends.#serve",
        from: "(request.epoch ?? epoch) !== epoch",
        to: "(request.epoch ?? epoch) === undefined",
      },
    ],
    caughtBy: {
      file: "test/scenarios/log/transfers.test.ts",
      title: "whose request to take over lies on the way for an hour takes nothing: the owner has gone on",
    },
  },
  {
    name: "the-next-lifes-directory-entry-goes",
    breaks: "a deletion leaves the directory entry of the log that has the name now",
    patches: [{ in: "leaveDirectory", from: "named === undefined || named.incarnation === log", to: "true" }],
    caughtBy: {
      file: "test/scenarios/log/deleting.test.ts",
      title:
        "29: a slow deleter that looked at a stale listing does not unlist the log that was created since",
    },
  },
  {
    name: "an-identity-check-of-any-age",
    breaks: "rule 21: a bookie's marker is looked at again within a minute",
    patches: [
      {
        in: "StoredBookie.#isIdentityFresh",
        from: "limits.identityCheckAgeMaxMs",
        to: "10 * limits.identityCheckAgeMaxMs",
      },
    ],
    caughtBy: {
      file: "test/scenarios/ledger/identity.test.ts",
      title: "a tail read trusts one that is under a minute old",
    },
  },
  {
    name: "a-warm-reader-never-asks-for-the-last-again",
    breaks: "rule 33e: the last segment is asked for by each read",
    patches: [
      {
        in: "LogReader.#nothingYet",
        from: "this.#lastSeen === ledgerId",
        to: "this.ports.known.of(ledgerId).seenLast",
      },
    ],
    caughtBy: {
      file: "test/scenarios/log/reading.test.ts",
      title: "T11 (33e): no 'nothing yet' from an empty segment, once the last, that was replaced",
    },
  },
];

/** Wrong versions that nothing catches yet: each is a test that is still to be written. */
export const uncaughtMutants: readonly WrongVersion[] = [
  {
    name: "what-starts-again-goes-behind-the-waiting",
    breaks: "PA4: appends that start again stand in front of those that came later",
    patches: [
      { in: "AppendQueue.restart", from: "[...again, ...this.#waiting]", to: "[...this.#waiting, ...again]" },
    ],
  },
];
