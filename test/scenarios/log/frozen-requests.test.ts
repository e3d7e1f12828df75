/**
 * A request about a log freezes at any call, and thaws an hour later. Its caller has gone, and the name may
 * be another log's by then, which nobody asked about.
 */
import { describe, expect, test } from "vitest";
import { region, seqNum } from "../../../lib/protocol/ids.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { EXHAUSTIVE } from "../../cpu-bound.ts";
import { freezeAt, freezes } from "../freeze.ts";
import { LOG, type LogClient, LogWorld } from "./log-world.ts";

const requests: Readonly<Record<string, (client: LogClient) => Promise<unknown>>> = {
  trim: ({ appends }) => appends.trim(LOG, seqNum(1)),
  seal: ({ appends }) => appends.seal(LOG),
  deletion: ({ appends }) => appends.deleteLog(LOG),
  transfer: ({ appends }) => appends.transferOwner(LOG, region("north")),
  preference: ({ appends }) => appends.preferRegion(LOG, region("north")),
};

describe.each(Object.entries(requests))("29: a %s", (_, ask) => {
  test.each(freezes)(
    "frozen %s any call (its clocks %s): the name's next life is left alone",
    EXHAUSTIVE,
    async (moment, passes) => {
      for (let at = 0; at < 60; at++) {
        const w = await LogWorld.make({ leases: true, forwarding: true });
        const p = w.client("P", "west");
        expect(await p.append("former")).toEqual(["at 0"]);
        const ice = freezeAt(w.faults, [{ client: "Z", port: "metadata" }], moment, at);
        const asked = ask(w.client("Z", "west")).catch(() => undefined);
        await w.world.clock.advance(100);
        if (!ice.isFrozen()) return expect(at).toBeGreaterThan(1);
        await w.deleteAndCreateAgain().catch(() => w.createAgain()); // it may be deleted already
        expect(await p.append("a", "b")).toEqual(["at 0", "at 1"]);
        w.world.clock[passes](3_600_000);
        ice.thaw();
        await w.run(asked);
        await w.world.clock.advance(limits.appendDeadlineMs);
        const t = w.client("T", "west");
        expect(await t.read(0), `call ${at}`).toEqual(["a", "b"]);
        expect(await p.append("c"), `call ${at}`).toEqual(["at 2"]);
        const { records } = await t.answer(0);
        expect(records).toHaveLength(3);
        const segments = await w.run(t.reads.segments(LOG));
        expect(new Set(segments.map(({ ownerRegion }) => ownerRegion)), `call ${at}`).toEqual(
          new Set(["west"]),
        );
        expect((await w.run(t.reads.describeLog(LOG))).preferredRegion, `call ${at}`).toBeUndefined();
      }
    },
  );
});
