/** What IAM keeps the reading half of a deployment from, and what it leaves it. */

import { bucketOf, type ProbedCall, statusesUnderRole } from "./role-probe.ts";
import { check } from "./scenario.ts";

const DENIED = 403;

/** `read` may call readers anywhere and its own region's append; nothing that writes a slot. */
export async function proveReadCannotWrite(
  directory: string,
  prefix: string,
  [own, other]: readonly [own: string, other: string],
): Promise<void> {
  const invoke = (region: string, what: string): ProbedCall => {
    return { kind: "invoke", region, functionName: `${prefix}-${what}` };
  };
  const calls = [
    invoke(own, "reader-b1"),
    invoke(other, "reader-b2"),
    invoke(own, "append"),
    invoke(own, "bookie-b1"),
    invoke(other, "bookie-b2"),
    invoke(other, "append"),
    invoke(own, "auditor"),
  ];
  const read = { region: own, functionName: `${prefix}-read` };
  const statuses = await statusesUnderRole(directory, read, calls);
  const wanted = [200, 200, 200, DENIED, DENIED, DENIED, DENIED];
  check(statuses.join() === wanted.join(), `read's role: ${JSON.stringify(calls)}`, statuses);
}

/** A reader may get from its own bucket, and change nothing there. */
export async function proveReaderCannotWrite(
  directory: string,
  prefix: string,
  region: string,
): Promise<void> {
  const functionName = `${prefix}-reader-b1`;
  const [bucket, foreign] = await Promise.all([
    bucketOf(region, functionName),
    bucketOf(region, `${prefix}-reader-b2`),
  ]);
  const calls: readonly ProbedCall[] = [
    { kind: "get", region, bucket },
    { kind: "put", region, bucket },
    { kind: "delete", region, bucket },
    { kind: "get", region, bucket: foreign },
    { kind: "invoke", region, functionName: `${prefix}-append` },
  ];
  const statuses = await statusesUnderRole(directory, { region, functionName }, calls);
  // 404: it may look, and nothing is there.
  const wanted = [404, DENIED, DENIED, DENIED, DENIED];
  check(statuses.join() === wanted.join(), `a reader's role: ${JSON.stringify(calls)}`, statuses);
}
