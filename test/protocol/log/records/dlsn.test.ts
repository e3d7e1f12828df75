import fc from "fast-check";
import { expect, test } from "vitest";
import { entryId, segmentNumber } from "../../../../lib/protocol/ids.ts";
import { compareDlsn, formatDlsn, parseDlsn } from "../../../../lib/protocol/log/records/record.ts";

const dlsns = fc
  .record({
    segment: fc.oneof(
      fc.integer({ min: 1, max: 12 }),
      fc.maxSafeNat().map((value) => Math.max(1, value)),
    ),
    entry: fc.oneof(fc.nat({ max: 12 }), fc.maxSafeNat()),
    slot: fc.nat({ max: 65_534 }),
  })
  .map(({ segment, entry, slot }) => ({ segment: segmentNumber(segment), entry: entryId(entry), slot }));

test("the text of a DLSN is read back, and sorts as positions do", () => {
  fc.assert(
    fc.property(dlsns, dlsns, (one, other) => {
      expect(parseDlsn(formatDlsn(one))).toEqual(one);
      const [first, second] = [formatDlsn(one), formatDlsn(other)];
      const asText = first === second ? 0 : first < second ? -1 : 1;
      expect(Math.sign(compareDlsn(one, other))).toBe(asText);
    }),
  );
});

test("what is no DLSN is refused with the form that is expected", () => {
  for (const text of [
    "",
    "1-2-3",
    "0000000000000000-0000000000000000-00000",
    `${"9".repeat(16)}-${"0".repeat(16)}-00000`,
  ]) {
    expect(() => parseDlsn(text)).toThrow(/has the form 0000000000000001-0000000000000000-00000/);
  }
});
