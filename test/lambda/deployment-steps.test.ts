/** What functions answer to CloudFormation: the guard over the topology, and the claim of an identity. */
import { once } from "node:events";
import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { MemoryMetadataStore } from "../../lib/adapters/memory/memory-metadata-store.ts";
import { SystemRandom } from "../../lib/adapters/node/system-random.ts";
import { claimBookie } from "../../lib/lambda/auditor-function.ts";
import { type CustomResourceEvent, patiently } from "../../lib/lambda/custom-resource.ts";
import { guardTopology } from "../../lib/lambda/topology-guard.ts";
import { unavailable } from "../../lib/protocol/errors.ts";
import { bookieId, region } from "../../lib/protocol/ids.ts";
import { registerBookie, setBookieState, setRegionState } from "../../lib/protocol/placement/registry.ts";

const [b1, b2, b3] = ["us-east-1.b1~s1", "us-east-1.b2~s2", "us-west-2.b1~s3"] as const;

async function registered(...ids: readonly string[]) {
  const ports = { metadata: new MemoryMetadataStore(), random: new SystemRandom() };
  for (const id of ids) {
    const place = { region: region(id.slice(0, id.indexOf("."))), rack: "a" };
    await registerBookie(ports, { id: bookieId(id), place });
  }
  return ports;
}

interface Outcome {
  readonly Status: string;
  readonly Reason?: string;
  readonly PhysicalResourceId: string;
}

/** What CloudFormation gets in the end. */
async function outcomeOf(
  answer: (event: CustomResourceEvent) => Promise<void>,
  event: Omit<CustomResourceEvent, "ResponseURL" | "StackId" | "RequestId" | "LogicalResourceId">,
): Promise<Outcome> {
  const told: Outcome[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    told.push(JSON.parse(Buffer.concat(chunks).toString()));
    response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = address === null || typeof address === "string" ? 0 : address.port;
  const ids = { StackId: "stack", RequestId: "request", LogicalResourceId: "Topology" };
  try {
    await answer({ ...ids, ResponseURL: `http://127.0.0.1:${port}/`, ...event });
  } finally {
    server.closeAllConnections();
    server.close();
  }
  const [outcome] = told;
  if (outcome === undefined || told.length !== 1) throw new Error(`told ${told.length} times`);
  return outcome;
}

const bookies = (...ids: readonly string[]) => ({ Bookies: ids });

describe("the guard over the topology", () => {
  test("refuses to drop a bookie that is registered, by its name", async () => {
    const { metadata } = await registered(b1, b2, b3);
    const event = {
      RequestType: "Update",
      PhysicalResourceId: "topology",
      OldResourceProperties: bookies(b1, b2, b3),
      ResourceProperties: bookies(b1, b2),
    } as const;
    const { Status, Reason } = await outcomeOf((one) => guardTopology(metadata, one), event);
    expect(Status).toBe("FAILED");
    expect(Reason).toContain(b3);
    expect(Reason).not.toContain(b2);
  });

  test.each(["draining", undefined] as const)(
    "refuses to drop a region whose bookies are lost, and which is itself %s: its ledgers have nobody",
    async (state) => {
      const ports = await registered(b1, b3);
      await setBookieState(ports, bookieId(b3), "lost");
      if (state !== undefined) await setRegionState(ports, region("us-west-2"), state);
      const event = {
        RequestType: "Update",
        PhysicalResourceId: "topology",
        OldResourceProperties: bookies(b1, b3),
        ResourceProperties: bookies(b1),
      } as const;
      const { Status, Reason } = await outcomeOf((one) => guardTopology(ports.metadata, one), event);
      expect(Status).toBe("FAILED");
      expect(Reason).toContain(
        "no longer names us-west-2, whose logs and ledgers nobody else would look after",
      );
    },
  );

  test("lets one go that is said to be lost, and one that was never registered", async () => {
    const ports = await registered(b1, b3);
    await setBookieState(ports, bookieId(b3), "lost");
    await setRegionState(ports, region("us-west-2"), "lost");
    const event = {
      RequestType: "Update",
      PhysicalResourceId: "topology",
      OldResourceProperties: bookies(b1, b2, b3),
      ResourceProperties: bookies(b1),
    } as const;
    expect(await outcomeOf((one) => guardTopology(ports.metadata, one), event)).toMatchObject({
      Status: "SUCCESS",
      PhysicalResourceId: "topology",
    });
  });

  test.each(["read-only", "writable"] as const)("a %s bookie lives", async (state) => {
    const ports = await registered(b1, b2);
    await setBookieState(ports, bookieId(b2), state);
    const event = {
      RequestType: "Update",
      OldResourceProperties: bookies(b1, b2),
      ResourceProperties: bookies(b1),
    } as const;
    expect(await outcomeOf((one) => guardTopology(ports.metadata, one), event)).toMatchObject({
      Status: "FAILED",
    });
  });

  test("has nothing against a new deployment, more bookies, the way back from a refusal, and an end", async () => {
    const { metadata } = await registered(b1, b2);
    const answer = (one: CustomResourceEvent) => guardTopology(metadata, one);
    const [two, three, one] = [bookies(b1, b2), bookies(b1, b2, b3), bookies(b1)];
    for (const event of [
      { RequestType: "Create", ResourceProperties: two },
      { RequestType: "Update", OldResourceProperties: two, ResourceProperties: three },
      // What CloudFormation sends to undo the refused change, and a change that failed elsewhere.
      { RequestType: "Update", OldResourceProperties: one, ResourceProperties: two },
      { RequestType: "Update", OldResourceProperties: three, ResourceProperties: two },
      { RequestType: "Delete", ResourceProperties: two },
    ] as const) {
      expect(await outcomeOf(answer, event)).toMatchObject({ Status: "SUCCESS" });
    }
  });
});

describe("a step", () => {
  test("is taken again while a new role's rights are not known, and not for ever", async () => {
    let attempts = 0;
    const deniedTwice = async () => {
      if (++attempts < 3) throw unavailable("403 AccessDenied", "none");
    };
    await patiently(deniedTwice, 0);
    expect(attempts).toBe(3);
    const denied = async () => {
      attempts++;
      throw unavailable("403 AccessDenied", "none");
    };
    await expect(patiently(denied, 0)).rejects.toThrow("403");
    expect(attempts).toBe(11);
  });

  test("that was refused for good is not taken again", async () => {
    let attempts = 0;
    const refused = async () => {
      attempts++;
      throw new Error("an identity is never used again");
    };
    await expect(patiently(refused, 0)).rejects.toThrow("never used again");
    expect(attempts).toBe(1);
  });
});

describe("the claim of a bookie's identity (rule 21)", () => {
  test("a new one is free, one that was ever registered is not", async () => {
    const { metadata } = await registered(b1);
    await expect(claimBookie(metadata, b2)).resolves.toBeUndefined();
    await expect(claimBookie(metadata, b1)).rejects.toThrow("an identity is never used again");
  });

  test("nor is one that is said to be lost: its copies counted once", async () => {
    const ports = await registered(b1);
    await setBookieState(ports, bookieId(b1), "lost");
    await expect(claimBookie(ports.metadata, b1)).rejects.toThrow("us-east-1.b1~s1");
  });
});
