/** One request's misfortune beside other clients' appends: none of those pays for it. */
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { SystemClock } from "../../lib/adapters/node/system-clock.ts";
import { LocalRegion } from "../../lib/local/local-region.ts";
import { defaultConfig } from "../../lib/local/log-preset.ts";
import { RegionSwitch } from "../../lib/local/region-switch.ts";
import type { ComposedRegion } from "../../lib/protocol/compose-region.ts";
import { bookieId, region } from "../../lib/protocol/ids.ts";
import { regionAware } from "../../lib/protocol/placement/region-aware.ts";
import { RunningCloud } from "./running-cloud.ts";

/** States a body of 1 MB, sends a part of it, and resets the connection. */
async function cutOff(url: string, type: string, headers = "Content-Length: 1000000"): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.write(
    `POST /v1/logs/cut/records HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\n${headers}\r\n\r\n` +
      '5\r\n{"rec\r\n',
  );
  await sleep(5);
  socket.resetAndDestroy();
  await once(socket, "close");
}

test("150 uploads that are cut off cost no append of another client", { timeout: 60_000 }, async () => {
  await using running = await RunningCloud.start();
  const url = running.url("us-east-1");
  for (const log of ["cut", "good"]) await fetch(`${url}/v1/logs/${log}`, { method: "PUT" });
  let isOver = false;
  const cutting = (async () => {
    for (let upload = 0; upload < 150; upload++) {
      const isChunked = upload % 3 === 0;
      const type = upload % 2 === 0 ? "application/json" : "application/octet-stream";
      await cutOff(url, type, isChunked ? "Transfer-Encoding: chunked" : undefined);
      await sleep(20);
    }
    isOver = true;
  })();
  const bodies: string[] = [];
  const failures: string[] = [];
  for (let sent = 0; !isOver; sent++) {
    const headers = { "content-type": "application/octet-stream" };
    const body = `record ${sent}`;
    const answer = await fetch(`${url}/v1/logs/good/records`, { method: "POST", headers, body });
    if (answer.status === 200) bodies.push(body);
    else failures.push(`${answer.status} ${await answer.text()}`);
    await sleep(40);
  }
  await cutting;
  expect(failures).toEqual([]);
  expect(await running.bodies("us-east-1", "good")).toEqual(bodies);
  expect(await running.bodies("us-east-1", "cut")).toEqual([]);
  expect(running.written.filter((line) => /defect/.test(line))).toEqual([]);
});

test("a defect costs the request that met it, and no other log its writer", async () => {
  let starts = 0;
  const faults: unknown[] = [];
  const defect = new TypeError("a defect");
  const append = { createLog: () => Promise.reject(defect), release: async () => {} };
  const home = new RegionSwitch(region("us-east-1"));
  const { config } = defaultConfig(regionAware, [one("b1"), one("b2")], home.region);
  const local = await LocalRegion.open({
    region: home,
    port: 0,
    clock: new SystemClock(),
    auditPeriodMs: 60_000,
    start: () => {
      starts += 1;
      return { append } as unknown as ComposedRegion;
    },
    api: {
      defaultConfig: config,
      health: () => Promise.reject(defect),
      onFault: (error) => faults.push(error),
    },
  });
  expect((await fetch(`${local.url}/v1/logs/orders`, { method: "PUT" })).status).toBe(500);
  expect((await fetch(`${local.url}/v1/health`)).status).toBe(500);
  await local.close();
  expect([faults, starts]).toEqual([[defect, defect], 1]);
});

function one(name: string) {
  return { id: bookieId(`${name}~s`), place: { region: region("us-east-1"), rack: name } };
}
