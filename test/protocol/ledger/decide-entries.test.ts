/** What recovery says of entries in doubt: an entry is the asker's own if its tenure and its payload are. */
import { expect, test } from "vitest";
import { entryId, tenure } from "../../../lib/protocol/ids.ts";
import { decideEntries } from "../../../lib/protocol/ledger/recover-ledger.ts";
import { threeOfFour } from "../../scenarios/ledger/three-of-four.ts";

test("20: another tenure's entry, or another one of the own tenure, is not the one in doubt", async () => {
  const w = await threeOfFour();
  const { writer } = await w.writer();
  const payload = new TextEncoder().encode("e0");
  const added = writer.add(payload);
  await w.run(added);
  const decide = (holder: typeof writer.tenure, entry: number, bytes: Uint8Array) =>
    w.run(decideEntries(w.ports("D"), w.theLedger(), holder, [{ entryId: entryId(entry), payload: bytes }]));
  expect(await decide(writer.tenure, 0, payload)).toMatchObject([{ kind: "recorded" }]);
  expect(await decide(tenure("another"), 0, payload)).toEqual([{ kind: "not-recorded" }]);
  expect(await decide(writer.tenure, 0, new Uint8Array(2))).toEqual([{ kind: "not-recorded" }]);
  expect(await decide(writer.tenure, 1, payload)).toEqual([{ kind: "not-recorded" }]);
});
