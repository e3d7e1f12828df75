/** What a question to a bookie tells of it: failures of any kind count towards quarantine, an answer ends it. */
import { expect, test } from "vitest";
import { unavailable } from "../../../lib/protocol/errors.ts";
import { ledgerId } from "../../../lib/protocol/ids.ts";
import { askBookie } from "../../../lib/protocol/ledger/ask-bookie.ts";
import { createLedger } from "../../../lib/protocol/ledger/create-ledger.ts";
import { knownBookies } from "../../../lib/protocol/placement/new-copies.ts";
import { quarantineRules } from "../../../lib/protocol/placement/quarantine.ts";
import { Suspects } from "../../../lib/protocol/reads/suspects.ts";
import { World } from "../../scenarios/world.ts";

/** Ways in which a call gets no answer. */
const failures: Readonly<Record<string, () => Promise<string>>> = {
  "a refused connection": () => Promise.reject(unavailable("connection refused")),
  silence: () => new Promise(() => {}),
  "a defect on the way": () => {
    throw new TypeError("no such host");
  },
};

async function world() {
  const w = await World.make({ bookies: ["B0", "B1", "B2", "B3"], quorums: [3, 3, 2] });
  const ports = w.ports("W");
  const [bookie] = w.addresses;
  if (bookie === undefined) throw new Error("no bookie");
  const ask = (call: () => Promise<string>) =>
    w.run(askBookie(ports, { ledgerId: ledgerId(1), bookie, what: "a question", call }));
  /** What placement would be told of it, were it no suspect besides. */
  const forgiving = { ...ports, suspects: new Suspects(w.clock) };
  const isAvoided = () => knownBookies(forgiving).quarantined?.has(bookie.id) === true;
  return { w, forgiving, ask, isAvoided };
}

test.each(Object.entries(failures))("%s, three times in a row, is quarantine", async (_, fail) => {
  const { w, forgiving, ask, isAvoided } = await world();
  for (let time = 1; time <= quarantineRules.failuresInRow; time++) {
    expect(isAvoided()).toBe(false);
    expect(await ask(fail)).toMatchObject({ kind: "unknown" });
  }
  expect(isAvoided()).toBe(true);
  const { item } = await w.run(createLedger(forgiving, { replication: w.replication, digest: w.digest }));
  expect(item.fragments[0]?.ensemble.map(({ id }) => id)).toEqual(["B1", "B2", "B3"]);
});

test("an answer between them, and one afterwards, ends it", async () => {
  const { ask, isAvoided } = await world();
  const refuse = () => Promise.reject(unavailable("connection refused"));
  for (const call of [refuse, refuse, () => Promise.resolve("fenced"), refuse, refuse]) await ask(call);
  expect(isAvoided()).toBe(false);
  await ask(refuse);
  expect(isAvoided()).toBe(true);
  expect(await ask(() => Promise.resolve("has nothing there"))).toBe("has nothing there");
  expect(isAvoided()).toBe(false);
});
