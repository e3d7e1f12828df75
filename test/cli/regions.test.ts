/** `fenceline region`, `fenceline bookie`, and the quorum sizes of `fenceline create`. */
import { describe, expect, test } from "vitest";
import { bookieId } from "../../lib/protocol/ids.ts";
import { here } from "../api/fake-log.ts";
import { FaultyEndpoint } from "./faulty-endpoint.ts";
import { at, run } from "./run-command.ts";

describe("region", () => {
  test("list shows states and bookies", async () => {
    await using endpoint = await FaultyEndpoint.open();
    const fenceline = at(endpoint);
    const { code, out } = await fenceline("region list");
    expect(code).toBe(0);
    expect(out.split("\n")).toEqual([
      "us-east-1       accepting",
      "  writable    us-east-1.b1~s1 in rack a",
      "  read-only   us-east-1.b2~s2 in rack b",
      "us-west-2       draining",
      "",
    ]);
    const { regions } = JSON.parse((await fenceline("region list --output json")).out);
    expect(regions).toMatchObject([{ region: "us-east-1", state: "accepting" }, { region: "us-west-2" }]);
  });

  test("drain, lost, accept; a region that is not there is exit code 4", async () => {
    await using endpoint = await FaultyEndpoint.open();
    const fenceline = at(endpoint);
    for (const [verb, state] of [
      ["drain", "draining"],
      ["lost", "lost"],
      ["accept", "accepting"],
    ]) {
      expect(await fenceline(`region ${verb} us-east-1`)).toMatchObject({
        code: 0,
        out: `us-east-1 is ${state}\n`,
      });
      expect(endpoint.logs.known[0]?.state).toBe(state);
    }
    const unknown = await fenceline("region drain mars");
    expect([unknown.code, unknown.out]).toEqual([4, ""]);
    expect(unknown.err).toContain("[region_not_found]");
    expect((await fenceline("region up us-east-1")).code).toBe(2);
  });
});

describe("bookie", () => {
  test("read-only, lost, writable, by the whole id or without its storage", async () => {
    await using endpoint = await FaultyEndpoint.open();
    const fenceline = at(endpoint);
    for (const state of ["read-only", "lost", "writable"]) {
      const id = state === "lost" ? "us-east-1.b1" : "us-east-1.b1~s1";
      expect(await fenceline(`bookie ${state} ${id}`)).toMatchObject({
        code: 0,
        out: `us-east-1.b1~s1 is ${state}\n`,
      });
      expect(endpoint.logs.known[0]?.bookies[0]?.state).toBe(state);
    }
  });

  test("one that is not there is exit code 4, one that may be two is a matter of usage", async () => {
    await using endpoint = await FaultyEndpoint.open();
    const fenceline = at(endpoint);
    const unknown = await fenceline("bookie lost us-east-1.b9");
    expect([unknown.code, unknown.err]).toEqual([4, expect.stringContaining("there are us-east-1.b1~s1,")]);
    const again = { id: bookieId("us-east-1.b1~s3"), place: { region: here, rack: "c" } };
    endpoint.logs.known = endpoint.logs.known.map((one) =>
      one.region === here ? { ...one, bookies: [...one.bookies, { ...again, state: "writable" }] } : one,
    );
    const ambiguous = await fenceline("bookie lost us-east-1.b1");
    expect([ambiguous.code, ambiguous.out]).toEqual([2, ""]);
    expect(ambiguous.err).toContain("may be us-east-1.b1~s1, us-east-1.b1~s3");
    expect((await fenceline("bookie lost us-east-1.b1~s3")).code).toBe(0);
  });
});

test.each([["region", "lost"], ["bookie", "lost"], ["region"], ["bookie"]])(
  "help of %s %s says that nothing copies anew what was lost",
  async (...words) => {
    const { code, out } = await run([...words, "--help"]);
    expect(code).toBe(0);
    expect(out).toMatch(/Nothing copies anew what a lost region or bookie held/);
    expect(out).not.toContain("made up for");
  },
);

describe("create", () => {
  test("takes quorum sizes, all four together and no preset beside them", async () => {
    await using endpoint = await FaultyEndpoint.open();
    const fenceline = at(endpoint);
    const sizes = "--ensemble 5 --write-quorum 4 --ack-quorum 3 --min-regions 2";
    expect((await fenceline(`create orders ${sizes}`)).code).toBe(0);
    expect([...endpoint.logs.logs.values()][0]?.description.config.replication).toEqual({
      ensembleSize: 5,
      writeQuorum: 4,
      ackQuorum: 3,
      minRegions: 2,
    });
    const partial = await fenceline("create x --ensemble 5 --ack-quorum 3");
    expect([partial.code, partial.err]).toEqual([
      2,
      expect.stringContaining("--write-quorum, --min-regions are"),
    ]);
    const both = await fenceline(`create x --preset economy ${sizes}`);
    expect([both.code, both.err]).toEqual([
      2,
      expect.stringContaining("leave out --ensemble, --write-quorum,"),
    ]);
    const one = await fenceline("create x --preset economy --ack-quorum 2");
    expect([one.code, one.err]).toEqual([2, expect.stringContaining("leave out --ack-quorum, or give all")]);
    const disordered = sizes.replace("--ack-quorum 3", "--ack-quorum 5");
    expect((await fenceline(`create x ${disordered}`)).code).toBe(2);
    expect(endpoint.logs.logs.size).toBe(1);
  });

  test("warns on standard error, and in JSON", async () => {
    await using endpoint = await FaultyEndpoint.open();
    endpoint.logs.warnings = ["1 of 3 sets"];
    const fenceline = at(endpoint);
    const text = await fenceline("create orders");
    expect(text).toMatchObject({ code: 0, out: "created orders\n", err: "warning: 1 of 3 sets\n" });
    const json = await fenceline("create orders --output json");
    expect(JSON.parse(json.out)).toMatchObject({ created: false, warnings: ["1 of 3 sets"] });
  });
});
