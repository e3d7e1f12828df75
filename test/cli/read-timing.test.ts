/** `fenceline read --timing`: what a read cost, on standard error. */
import { describe, expect, test } from "vitest";
import { ReadTimings } from "../../lib/client/read-timings.ts";
import { FaultyEndpoint } from "./faulty-endpoint.ts";
import { at } from "./run-command.ts";

describe("read --timing", () => {
  test("prints a summary to standard error, and the records as ever", async () => {
    await using endpoint = await FaultyEndpoint.open();
    const fenceline = at(endpoint);
    await fenceline("create orders");
    await fenceline("append orders", "one\ntwo\nthree");
    const plain = await fenceline("read orders");
    const timed = await fenceline("read orders --timing");
    expect(plain).toMatchObject({ code: 0, err: "" });
    expect(timed).toMatchObject({ code: 0, out: plain.out });
    // One tail and one page.
    expect(timed.err).toBe(
      "2 answers in 83 ms, the longest in 41 ms; 8 requests to bookies, 2 hedges (2 out of the region), " +
        "2 failovers; answered from: region eu-west-1 2, same-region 2\n",
    );
  });

  test("counts what it asked to find the place where it begins", async () => {
    await using endpoint = await FaultyEndpoint.open();
    const fenceline = at(endpoint);
    await fenceline("create orders");
    await fenceline("append orders", "one\ntwo\nthree");
    const dlsn = "0000000000000001-0000000000000000-00001";
    for (const start of ["--since 1970-01-01", "--last 2", `--dlsn ${dlsn}`]) {
      const { err } = await fenceline(`read orders ${start} --timing`);
      // A tail, the place, and a page.
      expect([start, err]).toEqual([start, expect.stringMatching(/^3 answers in \d+ ms/)]);
    }
  });

  test("for programs as one JSON object", async () => {
    await using endpoint = await FaultyEndpoint.open();
    const fenceline = at(endpoint);
    await fenceline("create orders");
    await fenceline("append orders", "one");
    const { err } = await fenceline("read orders --timing --format json");
    expect(JSON.parse(err)).toMatchObject({
      timing: {
        answers: 2,
        attempts: 6,
        cross_region_hedges: expect.any(Number),
        hedges: 2,
        winners: { "region eu-west-1": 2 },
      },
    });
  });
});

test("headers of others are left alone", () => {
  const timings = new ReadTimings();
  timings.add('cache;desc="hit", db;dur=53, read;dur=2.5, attempts;desc="1", hedges;desc="many"');
  timings.add("");
  expect(timings.sums).toMatchObject({ answers: 1, totalMs: 2.5, attempts: 1, hedges: 0 });
  expect(timings.text).toContain("answered from: nowhere");
});
