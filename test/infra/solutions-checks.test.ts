/** cdk-nag's AWS Solutions rules, and CloudFormation's own, find nothing that is not acknowledged. */
import { expect, test } from "vitest";
import { home, strong, synthesised, topologyOf } from "./topologies.ts";

test("a deployment in mode strong passes the AWS Solutions checks", { timeout: 180_000 }, () => {
  expect(synthesised(topologyOf(2, strong), true).regions.size).toBe(2);
});

test("a deployment in mode home, its reads streamed, an origin allowed, passes the AWS Solutions checks", {
  timeout: 180_000,
}, () => {
  expect(
    synthesised({ ...topologyOf(1, home), reads: "stream", allowedOrigins: ["https://app.example"] }, true)
      .regions.size,
  ).toBe(1);
});
