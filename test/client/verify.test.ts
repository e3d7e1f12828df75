/** What the workload of a verification does while a region does not answer. */
import { expect, test } from "vitest";
import { LogClient } from "../../lib/client/log-client.ts";
import { verify } from "../../lib/client/verify/verify.ts";
import { FaultyEndpoint } from "../cli/faulty-endpoint.ts";
import { CPU_BOUND } from "../cpu-bound.ts";

test(
  "a region that hangs holds up the reads that go there, and no appender elsewhere",
  CPU_BOUND,
  async () => {
    // An appender that waited for its read would get one append done in any of these times: no read ends before.
    for (const durationMs of [1_200, 4_800, 19_200]) {
      const report = await besideASilentRegion(durationMs);
      expect(report).toMatchObject({ violationCount: 0, strongReads: 0, unknown: 0 });
      expect(report.strongReadsFailed).toBe(report.acknowledged);
      if (report.acknowledged >= 2) return;
    }
    throw new Error("no second append while a read was under way");
  },
);

async function besideASilentRegion(durationMs: number) {
  await using here = await FaultyEndpoint.open();
  await using there = await FaultyEndpoint.open();
  there.isSilent = true;
  const timeoutMs = 2 * durationMs + 100;
  return await verify({
    clients: [here, there].map(({ url }) => new LogClient({ endpoint: url, timeoutMs })),
    prefix: "x",
    appenders: 1,
    logs: 1,
    durationMs,
    recordBytes: 20,
    followOwner: false,
    plain: false,
    unknownShareMax: 0,
    readsFailedShareMax: 1,
    patienceMs: 1_000,
  });
}
