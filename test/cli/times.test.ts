/** Times and durations of the command line: what they mean, and what is none. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ago, since } from "../../lib/cli/times.ts";
import { FaultyEndpoint } from "./faulty-endpoint.ts";
import { at, run } from "./run-command.ts";

const NOW_MS = Date.UTC(2026, 10, 30, 22, 0, 0);
const MINUTE_MS = 60_000;

beforeEach(() => void vi.spyOn(Date, "now").mockReturnValue(NOW_MS));
afterEach(() => void vi.restoreAllMocks());

describe("a time", () => {
  test.each([
    ["0", 0],
    ["1700000000000", 1_700_000_000_000],
    ["2026-11-30", Date.UTC(2026, 10, 30)],
    ["2024-02-29", Date.UTC(2024, 1, 29)],
    ["2027-01-31T12:00:00Z", Date.UTC(2027, 0, 31, 12)],
    ["2027-01-31t12:00z", Date.UTC(2027, 0, 31, 12)],
    ["2027-01-31 12:00:00.25Z", Date.UTC(2027, 0, 31, 12, 0, 0, 250)],
    ["2027-01-31T12:00:00.123456789Z", Date.UTC(2027, 0, 31, 12, 0, 0, 123)],
    ["2027-01-31T14:00+02:00", Date.UTC(2027, 0, 31, 12)],
    ["2027-01-31T00:30:00-0530", Date.UTC(2027, 0, 31, 6)],
    ["2027-12-31T23:30:00-01:00", Date.UTC(2028, 0, 1, 0, 30)],
    ["5m", NOW_MS - 5 * MINUTE_MS],
  ])("%s", (text, wanted) => {
    expect(since(text)).toBe(wanted);
  });

  test.each(
    [
      "-5",
      "hello 5",
      "yesterday",
      "",
      " ",
      "5",
      "2026-02-30",
      "2026-02-29",
      "2100-02-29",
      "2026-13-01",
      "2026-00-10",
      "2026-04-31T00:00:00Z",
      "2026-04-30T24:00:00Z",
      "2026-04-30T25:00:00Z",
      "2026-04-30T12:60:00Z",
      "2026-04-30T12:00:60Z",
      "2026-04-30T12:00:00+24:00",
      "2026-04-30T12:00:00+02:60",
      "2026-04-30T12:00:00 GMT",
      "2026-4-30",
      "26-04-30",
      "+002026-04-30",
      "1969-12-31",
      "30 Apr 2026",
      "04/30/2026",
      "20260430",
      "99999999999999999",
      "1e3",
      "-1h",
    ].filter((text) => !/^\d{1,16}$/.test(text)),
  )("%j is none", (text) => {
    expect(() => since(text)).toThrow(/It is a time such as|It has no zone/);
  });

  test("without a zone is refused with the zones that it may have had", () => {
    expect(() => since("2027-01-31T12:00:00")).toThrow(
      "It has no zone: 2027-01-31T12:00:00Z is UTC, 2027-01-31T12:00:00+02:00 two hours ahead of it.",
    );
  });
});

describe("a duration", () => {
  test.each([
    ["250ms", 250],
    ["90s", 90_000],
    ["5m", 5 * MINUTE_MS],
    ["1h30m", 90 * MINUTE_MS],
    ["2d", 2 * 24 * 60 * MINUTE_MS],
    ["1w1d1h1m1s1ms", 8 * 24 * 60 * MINUTE_MS + 61 * MINUTE_MS + 1_001],
    ["999999999w", NOW_MS],
  ])("of %s", (text, wantedMs) => {
    expect(NOW_MS - ago(text)).toBe(wantedMs);
  });

  test.each(["", "5", "m", "-5m", "5 m", "1.5h", "30m1h", "5M", "5min", "1h1h", "0x5m"])(
    "%j is none",
    (text) => {
      expect(() => ago(text)).toThrow("It is a duration such as 90s");
    },
  );
});

test("read --since and --ago begin there, and exclude each other", async () => {
  await using endpoint = await FaultyEndpoint.open();
  await at(endpoint)("create x");
  await at(endpoint)("append x", "a\n");
  const asked: unknown[] = [];
  const real = endpoint.logs.read.bind(endpoint.logs);
  endpoint.logs.read = (request) => {
    asked.push(request.from);
    return real(request);
  };
  for (const line of ["read x --since 5m", "read x --ago 5m", "read x --since 2026-11-30T21:55Z"]) {
    expect((await at(endpoint)(line)).code).toBe(0);
    expect(asked.splice(0)[0]).toEqual({ kind: "timestamp", timestampMs: NOW_MS - 5 * MINUTE_MS });
  }
  for (const line of [
    "--since 5m --ago 5m",
    "--ago 5m --last 1",
    "--ago 5m --from 1",
    "--since -5",
    "--ago 5",
  ]) {
    const { code, out } = await run(["read", "x", ...line.split(" "), "--endpoint", endpoint.url]);
    expect([line, code, out]).toEqual([line, 2, ""]);
  }
});
