/** The half of the HTTP surface that a function does not serve: API Gateway sends it to the other one. */
import { FencelineError } from "../protocol/errors.ts";
import type { AppendOperations, ReadOperations } from "../protocol/log/operations.ts";

export function noAppends(): AppendOperations {
  const refuse = refusal("read", "append");
  return {
    createLog: refuse,
    append: refuse,
    preferRegion: refuse,
    transferOwner: refuse,
    settle: refuse,
    trim: refuse,
    seal: refuse,
    deleteLog: refuse,
    recoverLedger: refuse,
  };
}

export function noReads(): ReadOperations {
  const refuse = refusal("append", "read");
  return {
    describeLog: refuse,
    listLogs: refuse,
    segments: refuse,
    read: refuse,
    tail: refuse,
    owner: refuse,
    showLedger: refuse,
  };
}

function refusal(here: string, there: string): () => Promise<never> {
  return async () => {
    throw new FencelineError("invalid_request", {
      message: `this is the ${here} function, which does not serve that; send it to the ${there} function`,
    });
  };
}
