/** cdk-nag's AWS Solutions rules, and CloudFormation's own, find nothing that is not acknowledged. */
import { expect, test } from "vitest";
import { home, strong, templatesOf, topologyOf } from "./topologies.ts";

test("a deployment in mode strong passes the AWS Solutions checks", { timeout: 60_000 }, () => {
  expect(templatesOf(topologyOf(2, strong), true).regions.size).toBe(2);
});

test("a deployment in mode home passes the AWS Solutions checks", { timeout: 60_000 }, () => {
  expect(templatesOf(topologyOf(1, home), true).regions.size).toBe(1);
});
