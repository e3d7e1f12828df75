/** Steps of a deployment: taken on Create alone, their outcome put where CloudFormation waits for it. */
import { once } from "node:events";
import { createServer } from "node:http";
import { afterEach, expect, it } from "vitest";
import {
  type CustomResourceEvent,
  isCustomResource,
  takeDeploymentStep,
} from "../../lib/lambda/custom-resource.ts";

const server = createServer();
afterEach(() => server.close());

/** Takes the step for such an event; what was put, and how often the step ran. */
async function taken(
  requestType: CustomResourceEvent["RequestType"],
  step: () => Promise<void>,
  status = 200,
) {
  const puts: { method: string | undefined; type: string | undefined; body: Record<string, unknown> }[] = [];
  server.removeAllListeners("request");
  server.on("request", (request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("end", () => {
      puts.push({ method: request.method, type: request.headers["content-type"], body: JSON.parse(body) });
      response.statusCode = status;
      response.end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  let steps = 0;
  const event: CustomResourceEvent = {
    RequestType: requestType,
    ResponseURL: `http://127.0.0.1:${port}/outcome`,
    StackId: "stack",
    RequestId: "request",
    LogicalResourceId: "Marker",
    ...(requestType === "Create" ? {} : { PhysicalResourceId: "made before" }),
  };
  const done = takeDeploymentStep(event, "us-east-1.b1~s1", async () => {
    steps += 1;
    await step();
  });
  const failure = await done.then(
    () => undefined,
    (error: Error) => error.message,
  );
  return { puts, steps, failure };
}

it("rule 21: what is set up once is set up on Create, and on no other event", async () => {
  const create = await taken("Create", async () => undefined);
  expect(create).toMatchObject({
    steps: 1,
    puts: [{ method: "PUT", body: { Status: "SUCCESS", PhysicalResourceId: "us-east-1.b1~s1" } }],
  });
  server.close();
  const update = await taken("Update", async () => undefined);
  expect(update).toMatchObject({
    steps: 0,
    puts: [{ body: { Status: "SUCCESS", PhysicalResourceId: "made before" } }],
  });
});

it("a step that fails fails the deployment, with its reason", async () => {
  const { puts, failure } = await taken("Create", async () => {
    throw new Error("the storage belongs to another bookie");
  });
  expect(puts[0]?.body).toMatchObject({ Status: "FAILED", Reason: "the storage belongs to another bookie" });
  expect(failure).toBeUndefined();
});

it("an outcome that is not taken is an error of the function", async () => {
  expect((await taken("Create", async () => undefined, 403)).failure).toContain("403");
});

it("an event of anything else is none", () => {
  for (const other of [null, {}, { RequestType: "Create" }, { ResponseURL: "x" }]) {
    expect(isCustomResource(other)).toBe(false);
  }
});
