import fc from "fast-check";
import { expect, test } from "vitest";
import type { EntryId, SeqNum } from "../../../../lib/protocol/ids.ts";
import { limits } from "../../../../lib/protocol/limits.ts";
import { type EntrySample, EntrySamples } from "../../../../lib/protocol/log/reading/known-ledgers.ts";

/** The entries of a ledger that starts at 10, of so many records each; 0 is a control entry. */
function entriesOf(counts: readonly number[]): EntrySample[] {
  let next = 10;
  return counts.map((count, entry) => {
    const first = next;
    next += count;
    return { entry: entry as EntryId, first: first as SeqNum, next: next as SeqNum };
  });
}

test("samples say what a search over all noted entries would say", () => {
  const counts = fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(counts, fc.infiniteStream(fc.boolean()), fc.nat({ max: 200 }), (sizes, picks, position) => {
      const samples = new EntrySamples();
      const noted = entriesOf(sizes).filter(() => picks.next().value);
      for (const sample of [...noted].sort((one, other) => ((one.entry * 7) % 5) - ((other.entry * 7) % 5))) {
        samples.note(sample);
      }
      const { before, holding, behind } = samples.around(position as SeqNum);
      expect(holding).toEqual(noted.find(({ first, next }) => first <= position && position < next));
      expect(before).toEqual(noted.findLast(({ next }) => next <= position));
      if (holding === undefined) {
        expect(behind).toEqual(noted.find(({ first, next }) => first > position && next > position));
      }
    }),
  );
});

test("samples are thinned out beyond their bound, and those left are still right", () => {
  const samples = new EntrySamples();
  const entries = entriesOf(Array.from({ length: 5 * limits.entrySamplesMax }, () => 1));
  for (const sample of entries) samples.note(sample);
  const last = entries.at(-1);
  const { before } = samples.around(Number.MAX_SAFE_INTEGER as SeqNum);
  expect(before).toEqual(last);
  const { before: low, holding } = samples.around(700 as SeqNum);
  const found = holding ?? low;
  expect(entries[found?.entry ?? -1]).toEqual(found);
});
