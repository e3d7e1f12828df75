/** A call that a function may not make is reported to the operators: once logged, once counted. */
import { expect, test, vi } from "vitest";
import {
  awsClients,
  type ClientWaits,
  FORWARD_WAITS,
  lambdaClient,
} from "../../lib/adapters/aws/aws-clients.ts";
import { regionWorld } from "../../lib/lambda/region-world.ts";
import { bookieId, entryId, ledgerId, logIncarnation, region } from "../../lib/protocol/ids.ts";
import { dynamoError, inOrder, ScriptedService } from "../adapters/aws/scripted-service.ts";
import { oneRegion } from "./one-region.ts";

function worldOver(status: number, name: string) {
  const lambda = (where: string, _waits: ClientWaits) =>
    lambdaClient(where, FORWARD_WAITS, new ScriptedService(inOrder(dynamoError(status, name))).config);
  const world = regionWorld(oneRegion, { region: "us-west-2", stage: "append" }, { ...awsClients, lambda });
  const logged = vi.spyOn(world.trace.logger, "error").mockImplementation(() => undefined);
  const counted = vi.spyOn(world.trace, "count").mockImplementation(() => undefined);
  return { world, logged, counted };
}

const calls = [
  ["of a bookie", (one: ReturnType<typeof worldOver>["world"]) => readSlot(one)],
  [
    "of an owner",
    (one: ReturnType<typeof worldOver>["world"]) =>
      one.appends.canOwn(region("us-east-1"), logIncarnation("l1")),
  ],
] as const;

function readSlot({ ports }: ReturnType<typeof worldOver>["world"]) {
  return ports.bookies.bookie(bookieId("us-east-1.b1~s1")).read(ledgerId(1), entryId(0));
}

test.each(calls)("LC2: a call %s that is denied", async (_, call) => {
  const { world, logged, counted } = worldOver(403, "AccessDeniedException");
  await expect(call(world)).rejects.toThrow("may not make the call");
  expect(counted.mock.calls).toEqual([["callsDenied"]]);
  expect(logged).toHaveBeenCalledWith("call denied", expect.objectContaining({ code: "unavailable" }));
});

test.each(calls)("a call %s of a function that is gone is not one", async (_, call) => {
  const { world, logged, counted } = worldOver(404, "ResourceNotFoundException");
  await expect(call(world)).rejects.toMatchObject({ code: "unavailable" });
  expect([logged.mock.calls, counted.mock.calls]).toEqual([[], []]);
});
