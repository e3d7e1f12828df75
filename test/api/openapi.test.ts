/** The OpenAPI document beside what the routes do: every operation has a name, and every failure a place. */
import { beforeAll, describe, expect, test } from "vitest";
import { problemStatus } from "../../lib/api/problem.ts";
import type { Route } from "../../lib/api/route.ts";
import { type ErrorCode, errorRules, FencelineError } from "../../lib/protocol/errors.ts";
import { apiUnderTest, problemIn } from "./api-under-test.ts";
import { fakeLedgerId } from "./fake-log.ts";

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content: Readonly<Record<string, unknown>> }>
  >;
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

let document: OpenApi;
let declared: readonly Route[];

beforeAll(async () => {
  const { api, send } = apiUnderTest();
  document = (await (await send("GET", "/v1/openapi.json")).json()) as OpenApi;
  declared = api.declared;
});

const operations = () => Object.values(document.paths).flatMap((methods) => Object.values(methods));
const operationOf = (id: string) => operations().find(({ operationId }) => operationId === id);

/** The codes that an operation lists under a status. */
function codesAt(operation: Operation | undefined, status: number): readonly string[] {
  const listed = operation?.responses[status]?.content["application/problem+json"] as Listed | undefined;
  return listed?.schema.allOf?.[1]?.properties.code.enum ?? [];
}

interface Listed {
  readonly schema: { readonly allOf?: readonly { readonly properties: { code: { enum: string[] } } }[] };
}

/** A request of each operation that reaches what stands behind it. */
const requests: Readonly<Record<string, readonly [method: string, path: string, body?: object]>> = {
  createLog: ["PUT", "/v1/logs/new", {}],
  listLogs: ["GET", "/v1/logs"],
  describeLog: ["GET", "/v1/logs/orders"],
  configureLog: ["PATCH", "/v1/logs/orders", { preferred_region: null }],
  deleteLog: ["DELETE", "/v1/logs/orders"],
  listSegments: ["GET", "/v1/logs/orders/segments"],
  settleLog: ["POST", "/v1/logs/orders/settle"],
  trimLog: ["POST", "/v1/logs/orders/trim", { seq_num: 0 }],
  sealLog: ["POST", "/v1/logs/orders/seal"],
  showOwner: ["GET", "/v1/logs/orders/owner"],
  transferOwner: ["POST", "/v1/logs/orders/owner/transfer", { region: "us-east-1" }],
  appendRecords: ["POST", "/v1/logs/orders/records", { records: [{ body: "x" }] }],
  readRecords: ["GET", "/v1/logs/orders/records"],
  readTail: ["GET", "/v1/logs/orders/records/tail"],
  showLedger: ["GET", `/v1/ledgers/${fakeLedgerId}`],
  recoverLedger: ["POST", `/v1/ledgers/${fakeLedgerId}/recover`],
  listRegions: ["GET", "/v1/regions"],
  setRegionState: ["PATCH", "/v1/regions/us-east-1", { state: "accepting" }],
  setBookieState: ["PATCH", "/v1/regions/us-east-1/bookies/us-east-1.b1~s1", { state: "writable" }],
};

test("every operation has an id of its own, and a request in this test", () => {
  const ids = operations().map(({ operationId }) => operationId);
  expect(ids.every((id) => /^[a-z][A-Za-z]+$/.test(id))).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
  expect([...ids].sort()).toEqual([...Object.keys(requests), "showHealth"].sort());
});

test("every code has the statuses that it comes with, and every status its codes", () => {
  for (const { id, problems } of declared) {
    const operation = operationOf(id);
    for (const code of problems) expect(codesAt(operation, problemStatus[code])).toContain(code);
    const listed = Object.keys(operation?.responses ?? {}).flatMap((status) => {
      return codesAt(operation, Number(status));
    });
    expect([...new Set(listed)].sort()).toEqual([...problems].sort());
  }
  const all = declared.flatMap(({ problems }) => problems);
  // The rest is said before there is a route, or of another method.
  const unread = ["expectation_failed", "headers_too_large", "request_timeout", "uri_too_long"];
  const elsewhere = ["route_not_found", "method_not_allowed", ...unread];
  expect([...new Set([...all, ...elsewhere])].sort()).toEqual(Object.keys(problemStatus).sort());
});

test("health lists its 503 as the same document", () => {
  const health = operationOf("showHealth")?.responses[503];
  expect(health?.content).toHaveProperty(["application/json"]);
});

describe.each(Object.entries(requests))("%s", (id, [method, path, body]) => {
  test.each(Object.keys(errorRules) as ErrorCode[])("failing with %s", async (code) => {
    const { logs, undeclared, send, sendJson } = apiUnderTest();
    await send("PUT", "/v1/logs/orders");
    logs.failure = new FencelineError(code, { message: "why" });
    const answer = await (body === undefined ? send(method, path) : sendJson(method, path, body));
    const problem = await problemIn(answer);
    expect(problem.code).toBe(code);
    const isListed = codesAt(operationOf(id), answer.status).includes(code);
    // RP1: what is not listed does not go unnoticed.
    expect(undeclared).toEqual(isListed ? [] : [`${id} ${code}`]);
  });

  test("failing by itself, or for want of regions", async () => {
    const { logs, undeclared, send, sendJson } = apiUnderTest();
    await send("PUT", "/v1/logs/orders");
    const ask = () => (body === undefined ? send(method, path) : sendJson(method, path, body));
    const silent = { answered_regions: ["us-east-1"], silent_regions: ["us-west-2"] };
    for (const failure of [
      new TypeError("defect"),
      new FencelineError("unknown_outcome", { message: "why", details: silent }),
    ]) {
      logs.failure = failure;
      const answer = await ask();
      const { code } = await problemIn(answer);
      const isListed = codesAt(operationOf(id), answer.status).includes(code);
      expect(undeclared.splice(0)).toEqual(isListed ? [] : [`${id} ${code}`]);
    }
  });
});

test.each([
  ["appendRecords", { headers: { "content-type": "text/csv" } }],
  ["appendRecords", { headers: { "content-type": "application/json" }, body: "{" }],
  ["trimLog", { headers: { "content-type": "application/json" }, body: "x".repeat(2_000) }],
  ["setRegionState", {}],
  ["createLog", { headers: { "content-type": "text/plain" }, body: "x" }],
  ["transferOwner", { headers: { "content-type": "application/json" }, body: "{" }],
] as const)("%s lists what is refused of the body, as %j", async (id, init) => {
  const { undeclared, send } = apiUnderTest();
  const [method, path] = requests[id] ?? expect.fail(id);
  const answer = await send(method, path, init);
  expect(codesAt(operationOf(id), answer.status)).toContain((await problemIn(answer)).code);
  expect(undeclared).toEqual([]);
});
