/** Clocks, random sources and digests that are wrong in one way each; their contracts must catch them all. */
import { NodeDigest } from "../../lib/adapters/node/node-digest.ts";
import type { Clock } from "../../lib/protocol/deadline.ts";
import { entryId, tenure } from "../../lib/protocol/ids.ts";
import type { Digest, EntryHeader } from "../../lib/protocol/ports.ts";
import type { Random } from "../../lib/protocol/random.ts";
import type { LedgerDigest } from "../../lib/protocol/replication.ts";
import { SeededRandom } from "../sim/seeded-random.ts";

type Changes = (clock: Clock) => Partial<Clock>;

const clockWith =
  (changes: Changes) =>
  (clock: Clock): Clock => ({
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    startTimer: (delayMs, fire) => clock.startTimer(delayMs, fire),
    ...changes(clock),
  });

export const brokenClocks: Readonly<Record<string, (clock: Clock) => Clock>> = {
  "timers fire early": clockWith((clock) => ({
    startTimer: (delayMs, fire) => clock.startTimer(delayMs - 1, fire),
  })),
  "timers fire twice": clockWith((clock) => ({
    startTimer(delayMs, fire) {
      clock.startTimer(delayMs + 1, fire);
      return clock.startTimer(delayMs, fire);
    },
  })),
  "timers fire inside the call that starts them": clockWith((clock) => ({
    startTimer(delayMs, fire) {
      if (delayMs > 0) return clock.startTimer(delayMs, fire);
      fire();
      return { cancel: () => undefined };
    },
  })),
  "cancelled timers fire": clockWith((clock) => ({
    startTimer(delayMs, fire) {
      clock.startTimer(delayMs, fire);
      return { cancel: () => undefined };
    },
  })),
  "long delays overflow and fire at once": clockWith((clock) => ({
    startTimer: (delayMs, fire) => clock.startTimer(delayMs > 2 ** 31 - 1 ? 1 : delayMs, fire),
  })),
  "monotonic time falls": clockWith((clock) => {
    let reading = 0;
    return { monotonicMs: () => clock.monotonicMs() - (reading++ % 7) };
  }),
  "wall time is in seconds": clockWith((clock) => ({ nowMs: () => clock.nowMs() / 1_000 })),
};

const drawing = (draw: (value: number) => number) => (): Random => {
  const random = new SeededRandom(1, "broken");
  return { uint32: () => draw(random.uint32()) };
};

export const brokenRandoms: Readonly<Record<string, () => Random>> = {
  "always the same": drawing(() => 4),
  "31 bits": drawing((value) => value >>> 1),
  "signed numbers": drawing((value) => value | 0),
  fractions: drawing((value) => value / 2 ** 32),
  "one draw in a thousand is 2^32": drawing((value) => (value % 1_000 === 0 ? 2 ** 32 : value)),
  "each draw is given twice": () => {
    const random = new SeededRandom(1, "broken");
    let kept: number | undefined;
    return {
      uint32() {
        const given = kept ?? random.uint32();
        kept = kept === undefined ? given : undefined;
        return given;
      },
    };
  },
};

type Given = [digest: LedgerDigest, header: EntryHeader, payload: Uint8Array];

const computing = (given: (...all: Given) => Given) => (): Digest => {
  const whole = new NodeDigest();
  return { compute: (...all) => whole.compute(...given(...all)) };
};

export const brokenDigests: Readonly<Record<string, () => Digest>> = {
  "the tenure is left out": computing((kind, header, payload) => [
    kind,
    { ...header, tenure: tenure("") },
    payload,
  ]),
  "the last add confirmed is left out": computing((kind, header, payload) => [
    kind,
    { ...header, lastAddConfirmed: entryId(0) },
    payload,
  ]),
  "the last byte is left out": computing((kind, header, payload) => [kind, header, payload.subarray(0, -1)]),
  "the key is always the same": computing((kind, header, payload) => [
    kind.type === "crc32" ? kind : { ...kind, keyHex: "00".repeat(32) },
    header,
    payload,
  ]),
  "a CRC is always enough": computing((_kind, header, payload) => [{ type: "crc32" }, header, payload]),
};
