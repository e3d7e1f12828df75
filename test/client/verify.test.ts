/** What the workload of a verification does while a region does not answer. */
import { expect, test } from "vitest";
import { LogClient } from "../../lib/client/log-client.ts";
import { verify } from "../../lib/client/verify/verify.ts";
import { FaultyEndpoint } from "../cli/faulty-endpoint.ts";

test("a region that hangs holds up the reads that go there, and no appender of another region", async () => {
  await using here = await FaultyEndpoint.open();
  await using there = await FaultyEndpoint.open();
  there.isSilent = true;
  const report = await verify({
    clients: [here, there].map(({ url }) => new LogClient({ endpoint: url, timeoutMs: 2_500 })),
    prefix: "x",
    appenders: 1,
    logs: 1,
    durationMs: 1_200,
    recordBytes: 20,
    followOwner: false,
    plain: false,
    unknownShareMax: 0,
    readsFailedShareMax: 1,
    patienceMs: 1_000,
  });
  expect(report).toMatchObject({ violationCount: 0, strongReads: 0, unknown: 0 });
  expect(report.acknowledged).toBeGreaterThanOrEqual(2);
  expect(report.strongReadsFailed).toBe(report.acknowledged);
});
