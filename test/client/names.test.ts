/** Names that would make the path of another request are never sent. */
import { expect, it } from "vitest";
import { NotSentError } from "../../lib/client/client-errors.ts";
import { LogClient } from "../../lib/client/log-client.ts";

const sent: string[] = [];
const client = new LogClient({
  endpoint: "http://region",
  send: async (url) => {
    sent.push(url);
    return Response.json({ log: "any" });
  },
});

it.each(["", ".", "..", "\ud800"])("the name %j", async (name) => {
  const calls = [
    () => client.createLog(name, {}),
    () => client.describeLog(name),
    () => client.segments(name),
    () => client.append(name, { records: [] }, "utf8"),
    () => client.read(name, { from: 0 }),
    () => client.tail(name),
    () => client.trim(name, 0),
    () => client.seal(name),
    () => client.deleteLog(name),
    () => client.owner(name),
    () => client.transferOwner(name, "us-east-1"),
    () => client.preferRegion(name, null),
    () => client.showLedger(name),
    () => client.recoverLedger(name),
    () => client.setRegionState(name, "lost"),
    () => client.setBookieState("us-east-1", name, "lost"),
  ];
  for (const call of calls) {
    const failure = await call().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NotSentError);
    expect(failure).toMatchObject({ retryable: false, sideEffects: "none" });
  }
  expect(sent).toEqual([]);
});

it("others are sent as one segment, whatever is in them", async () => {
  await client.describeLog("a/../b c");
  expect(sent.splice(0)).toEqual(["http://region/v1/logs/a%2F..%2Fb%20c"]);
});
