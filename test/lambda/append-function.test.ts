/** What a region's `append` function leaves behind itself when its answer leaves (AF1). */
import { expect, test } from "vitest";
import { encodeAppendCall } from "../../lib/adapters/aws/append-call.ts";
import { AppendFunction } from "../../lib/lambda/append-function.ts";
import type { RegionWorld } from "../../lib/lambda/region-world.ts";
import { LOG, LogWorld, recordOf } from "../scenarios/log/log-world.ts";

/** An instance of the east's function over the story's stores; it reaches no other region. */
function instance(w: LogWorld, name: string) {
  const { ports } = w.client(name);
  const { trace } = ports;
  const world = {
    region: ports.region,
    ports: { ...ports, registry: { whenCurrent: () => undefined } },
    trace: {
      emit: trace.emit.bind(trace),
      follow: () => {},
      count: () => {},
      took: () => {},
      flush: () => {},
    },
    appends: {},
    settings: { allowedOrigins: [] },
  };
  const served = new AppendFunction(world as unknown as RegionWorld);
  return (text: string) => {
    const request = { log: LOG, records: [recordOf(text)] };
    return served.serve(encodeAppendCall({ operation: "append", request }));
  };
}

const recoveries = (w: LogWorld) => w.world.trace.filter(({ event }) => event === "recovery-started").length;

test("AF1: the lease is released before the answer leaves; a process that is frozen then costs no recovery", async () => {
  const w = await LogWorld.make({ leases: true });
  for (const [index, name] of ["one", "two", "three", "one again"].entries()) {
    const answer = await w.run(instance(w, name)(`r${index}`));
    expect(answer).toMatchObject({ answer: {} });
    const lease = (await w.leaseTable("east").read(w.log))?.lease;
    expect(lease).toMatchObject({ clean: true, expiresAtMs: 0 });
    w.faults.hold({ client: name });
  }
  expect(recoveries(w)).toBe(0);
  expect(await w.client("T", "west").read(0)).toEqual(["r0", "r1", "r2", "r3"]);
});
