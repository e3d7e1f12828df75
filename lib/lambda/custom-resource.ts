/**
 * Steps of a deployment that a function takes: CloudFormation calls it with the event of a custom resource
 * and waits for the outcome at an address that the event names.
 */
import { setTimeout } from "node:timers/promises";
import { hasCode } from "../protocol/errors.ts";

export interface CustomResourceEvent {
  readonly RequestType: "Create" | "Update" | "Delete";
  readonly ResponseURL: string;
  readonly StackId: string;
  readonly RequestId: string;
  readonly LogicalResourceId: string;
  readonly PhysicalResourceId?: string;
  /** As the template says; of an update also what it said before. */
  readonly ResourceProperties?: Readonly<Record<string, unknown>>;
  readonly OldResourceProperties?: Readonly<Record<string, unknown>>;
}

/** A new role's rights take some seconds to be known everywhere; a refusal of one's own is no such thing. */
const ATTEMPTS = 8;
const PAUSE_MS = 2_000;

/** Takes a step again while what it needs does not answer, or refuses it for now. */
export async function patiently(step: () => Promise<void>, pauseMs = PAUSE_MS): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await step();
    } catch (error) {
      if (!hasCode(error, "unavailable") || attempt === ATTEMPTS) throw error;
      await setTimeout(pauseMs);
    }
  }
}

export function isCustomResource(event: unknown): event is CustomResourceEvent {
  return typeof event === "object" && event !== null && "RequestType" in event && "ResponseURL" in event;
}

/**
 * Takes the step when the resource is created, and never again: what it sets up once must not be set up in
 * the place of something that was lost (rule 21). `physicalId` names what was set up.
 */
export async function takeDeploymentStep(
  event: CustomResourceEvent,
  physicalId: string,
  step: () => Promise<void>,
): Promise<void> {
  await answerDeployment(event, physicalId, async () => {
    if (event.RequestType === "Create") await step();
  });
}

/** As `takeDeploymentStep`, but for every event of the resource. A step that throws fails the deployment. */
export async function answerDeployment(
  event: CustomResourceEvent,
  physicalId: string,
  step: () => Promise<void>,
): Promise<void> {
  let failure: string | undefined;
  try {
    await patiently(step);
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  }
  const body = JSON.stringify({
    Status: failure === undefined ? "SUCCESS" : "FAILED",
    ...(failure === undefined ? {} : { Reason: failure.slice(0, 1_000) }),
    PhysicalResourceId: event.PhysicalResourceId ?? physicalId,
    StackId: event.StackId,
    RequestId: event.RequestId,
    LogicalResourceId: event.LogicalResourceId,
  });
  // A signed address: a header that was not signed for would be refused.
  const answer = await fetch(event.ResponseURL, { method: "PUT", body, headers: { "content-type": "" } });
  if (!answer.ok) throw new Error(`CloudFormation answered ${answer.status} to the outcome ${body}`);
}
