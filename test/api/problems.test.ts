/** What each error looks like to a caller: status, whether to retry, whether it may have had an effect. */
import { describe, expect, test } from "vitest";
import { type ProblemCode, problemStatus } from "../../lib/api/problem.ts";
import {
  type BookieOutcome,
  type ErrorCode,
  FencelineError,
  insufficientRegions,
  unavailable,
  verdictOf,
} from "../../lib/protocol/errors.ts";
import { bookieId, region } from "../../lib/protocol/ids.ts";
import { apiUnderTest, problemIn } from "./api-under-test.ts";

/** Every code of the log: status, retryable, side effects, each as it is when the thrower says no more. */
const table: Readonly<Record<ErrorCode, readonly [number, boolean, "none" | "possible"]>> = {
  invalid_request: [400, false, "none"],
  log_not_found: [404, false, "none"],
  log_exists: [409, false, "none"],
  log_sealed: [409, false, "none"],
  ledger_not_found: [404, false, "none"],
  region_not_found: [404, false, "none"],
  bookie_not_found: [404, false, "none"],
  seq_num_mismatch: [412, false, "none"],
  producer_fenced: [403, false, "none"],
  producer_seq_gap: [409, false, "none"],
  producer_seq_passed: [409, false, "none"],
  idempotency_conflict: [422, false, "none"],
  position_trimmed: [410, false, "none"],
  position_unwritten: [416, false, "none"],
  record_too_large: [413, false, "none"],
  batch_too_large: [413, false, "none"],
  not_ready: [503, true, "none"],
  not_owner: [421, true, "none"],
  over_capacity: [429, true, "none"],
  region_unavailable: [503, true, "possible"],
  insufficient_regions: [503, true, "possible"],
  region_not_accepting: [409, false, "none"],
  fenced: [409, true, "possible"],
  unknown_outcome: [504, false, "possible"],
  unavailable: [503, true, "possible"],
  data_corrupt: [500, true, "none"],
};

const append = { records: [{ body: "x" }] };

async function failing(failure: unknown) {
  const surface = apiUnderTest();
  await surface.send("PUT", "/v1/logs/orders");
  surface.logs.failure = failure;
  const answer = await surface.sendJson("POST", "/v1/logs/orders/records", append);
  return { ...surface, answer, problem: await problemIn(answer) };
}

describe("the pair (retryable, side_effects) of every code", () => {
  test.each(Object.entries(table))("%s", async (code, [status, retryable, sideEffects]) => {
    const { answer, problem } = await failing(new FencelineError(code as ErrorCode, { message: "why" }));
    expect(problem).toMatchObject({ status, code, retryable, side_effects: sideEffects, detail: "why" });
    expect(problem.type).toBe(`urn:fenceline:problem:${code}`);
    expect(answer.headers.has("retry-after")).toBe(retryable);
  });

  test("no code is without a row here", () => {
    const ofTheLog = Object.keys(table);
    const ofTheSurface: ProblemCode[] = [
      "bad_json",
      "origin_not_allowed",
      "route_not_found",
      "method_not_allowed",
      "not_utf8",
      "body_too_large",
      "unsupported_media_type",
      "expectation_failed",
      "uri_too_long",
      "headers_too_large",
      "request_timeout",
      "internal",
    ];
    expect(Object.keys(problemStatus).sort()).toEqual([...ofTheLog, ...ofTheSurface].sort());
  });

  test("the thrower's own word counts, not the code's", async () => {
    const { problem } = await failing(
      new FencelineError("insufficient_regions", { message: "why", sideEffects: "none", retryable: false }),
    );
    expect(problem).toMatchObject({ retryable: false, side_effects: "none" });
  });
});

describe("details", () => {
  test("a missed quorum names the regions that answered and those that did not", async () => {
    const said = (name: string, outcome: BookieOutcome) =>
      verdictOf({ id: bookieId(`${name}.b1~s`), place: { region: region(name), rack: "r1" } }, outcome);
    const verdicts = [
      // Whether it answered does not depend on its words.
      said("us-east-1", { kind: "answered", said: "unknown to itself" }),
      said("us-east-2", { kind: "unknown", reason: "silent" }),
    ];
    const { problem } = await failing(insufficientRegions("2 of 3 needed", verdicts, "possible"));
    expect(problem).toMatchObject({ answered_regions: ["us-east-1"], silent_regions: ["us-east-2"] });
    expect(problem.detail).toContain("us-east-1.b1~s unknown to itself; us-east-2.b1~s unknown (silent)");
  });

  test("what the error leaves out its cause may say; members of the document stay its own", async () => {
    const cause = new FencelineError("insufficient_regions", {
      message: "metadata lacks a majority",
      details: { answered_regions: ["us-east-1"], code: "nonsense", status: 200 },
    });
    const { problem } = await failing(unavailable("metadata could not be read", "none", cause));
    expect(problem).toMatchObject({
      code: "insufficient_regions",
      status: 503,
      side_effects: "none",
      answered_regions: ["us-east-1"],
    });
    expect(problem.detail).toBe("metadata could not be read: metadata lacks a majority");
  });

  test.each([
    [
      "unavailable",
      "none",
      /^log orders: 1 of 3 metadata replicas answers and 2 are needed; nothing was appended; try/,
    ],
    [
      "unknown_outcome",
      "possible",
      /needed; the append may have happened or not: append again with match_seq_num 7, so/,
    ],
  ] as const)(
    "a lost metadata majority is one code, in plain words first: %s",
    async (code, effects, words) => {
      const cause = new FencelineError("insufficient_regions", {
        message: "metadata get: no majority",
        sideEffects: "none",
        details: {
          answered_regions: ["us-east-1"],
          silent_regions: ["us-east-2", "us-west-2"],
          counted: "metadata_replicas",
          needed_regions: 2,
        },
      });
      const details = code === "unknown_outcome" ? { start_seq_num: 7 } : {};
      const error = new FencelineError(code, { message: "why", sideEffects: effects, details, cause });
      const { problem } = await failing(error);
      expect(problem).toMatchObject({ status: 503, code: "insufficient_regions", side_effects: effects });
      expect(problem.detail).toMatch(words);
      expect(problem.detail).toMatch(/In detail: why: metadata get: no majority$/);
    },
  );

  test("an outcome that nobody could place is not to be found out by a read, and repeated only as it was", async () => {
    const details = { answered_regions: ["us-east-1"], silent_regions: ["us-west-2"] };
    for (const error of [
      new FencelineError("unknown_outcome", { message: "why", details }),
      new Error("bug"),
    ]) {
      const { problem } = await failing(error);
      expect(problem.side_effects).toBe("possible");
      expect(problem.detail).toMatch(/may also be recorded later, so repeat it only with the match_seq_num/);
      expect(problem.detail).not.toMatch(/read the (tail|log)/);
    }
  });

  test("an outcome unknown because regions are silent is 503 like every lack of regions", async () => {
    const details = { answered_regions: ["us-east-1"], silent_regions: ["us-east-2", "us-west-2"] };
    const { problem } = await failing(new FencelineError("unknown_outcome", { message: "why", details }));
    expect(problem).toMatchObject({
      status: 503,
      code: "unknown_outcome",
      side_effects: "possible",
      ...details,
    });
  });

  test("Retry-After rounds up to whole seconds", async () => {
    const details = { retry_after_ms: 1_200 };
    const { answer, problem } = await failing(
      new FencelineError("over_capacity", { message: "busy", details }),
    );
    expect(answer.headers.get("retry-after")).toBe("2");
    expect(problem.retry_after_ms).toBe(1_200);
  });
});

describe("failures that nobody foresaw", () => {
  test("of an append may have had an effect, keep their secrets, and are told to the operator", async () => {
    const secret = new TypeError("password=hunter2");
    const { faults, problem } = await failing(secret);
    expect(problem).toMatchObject({
      status: 500,
      code: "internal",
      retryable: false,
      side_effects: "possible",
    });
    expect(JSON.stringify(problem)).not.toContain("hunter2");
    expect(faults).toEqual([secret]);
  });

  test("of a read had none", async () => {
    const { logs, send } = apiUnderTest();
    logs.failure = new TypeError("no");
    expect(await problemIn(await send("GET", "/v1/logs/orders"))).toMatchObject({
      code: "internal",
      side_effects: "none",
    });
  });
});

describe("requests that lead nowhere", () => {
  test.each(["/", "/v1", "/v1/nothing", "/v1/logs/", "/v1/logs/orders/", "/v1/logs/a/b", "/favicon.ico"])(
    "404 for %s",
    async (path) => {
      const problem = await problemIn(await apiUnderTest().send("GET", path));
      expect(problem).toMatchObject({ status: 404, code: "route_not_found", side_effects: "none" });
      expect(problem.detail).toContain("/v1/openapi.json");
    },
  );

  test.each([
    ["POST", "/v1/logs/orders", "DELETE, GET, HEAD, OPTIONS, PATCH, PUT"],
    ["POST", "/v1/logs", "GET, HEAD, OPTIONS"],
    ["GET", "/v1/logs/orders/trim", "OPTIONS, POST"],
    ["PUT", "/v1/logs/orders/records", "GET, HEAD, OPTIONS, POST"],
    ["GET", "/v1/ledgers/1/recover", "OPTIONS, POST"],
    ["POST", "/v1/health", "GET, HEAD, OPTIONS"],
  ])("405 for %s %s", async (method, path, allowed) => {
    const answer = await apiUnderTest().send(method, path);
    expect(answer.headers.get("allow")).toBe(allowed);
    expect(await problemIn(answer)).toMatchObject({ status: 405, code: "method_not_allowed" });
  });

  test("ledger ids that are none, or unknown", async () => {
    const { send } = apiUnderTest();
    for (const id of ["-1", "1.5", "9007199254740992", "x"]) {
      expect(await problemIn(await send("GET", `/v1/ledgers/${id}`))).toMatchObject({
        code: "invalid_request",
      });
    }
    expect(await problemIn(await send("GET", "/v1/ledgers/7"))).toMatchObject({ code: "ledger_not_found" });
  });
});
