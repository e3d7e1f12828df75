/** Who owns a log: the region of its last segment. */
import { FencelineError } from "../../errors.ts";
import type { LogIdentity } from "../log-identity.ts";
import type { LogPorts } from "../log-ports.ts";
import type { Ownership } from "../operations.ts";
import { lastItem } from "./segments.ts";

/** Read consistently. Throws `log_sealed`: a log with an end has no owner any more. */
export async function ownershipOf(ports: Pick<LogPorts, "metadata">, log: LogIdentity): Promise<Ownership> {
  const last = await lastItem(ports.metadata, log.log, "consistent");
  if (last === undefined) return {};
  if (last.kind === "segment") return { owner: last.item.ownerRegion, epoch: last.item.number };
  throw new FencelineError("log_sealed", {
    message: `log ${log.name} was sealed at ${last.first}; nobody owns it any more`,
    details: { tail: last.first },
  });
}
