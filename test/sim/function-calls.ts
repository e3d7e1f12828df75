/** Calls of a region's `append` function over the network, by clients and by the functions of other regions. */
import { FencelineError } from "../../lib/protocol/errors.ts";
import type { Region } from "../../lib/protocol/ids.ts";
import { type FleetCall, fleetOf } from "./function-fleet.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { World } from "./world.ts";

export interface NetworkCall<T> extends FleetCall<T> {
  /**
   * Whether the network may deliver it twice. An append is sent over what delivers once at most: of two copies
   * one could say that it did nothing while the other is recorded.
   */
  readonly isRepeatable: boolean;
}

/** Rejects with what the function said; without side effects only if it certainly did not get the request. */
export function callFunctions<T>(
  world: World,
  process: SimulatedProcess,
  region: Region,
  call: NetworkCall<T>,
): Promise<T> {
  const fleet = fleetOf(world, region);
  let arrivals = 0;
  return world
    .path(process, "function", { name: fleet.plan.name, region })
    .call<T>(({ effect, failure }, reply) => {
      if (++arrivals > 1 && !call.isRepeatable) return;
      if (failure?.message === "throttled") return reply.fail(tooMuchToDo(region));
      if (!effect) return reply.fail(failure);
      const answered = failure === undefined ? reply : { ...reply, answer: () => reply.fail(failure) };
      fleet.serve(call, answered);
    });
}

/** Refused before anything ran; a function that says so is alive. */
function tooMuchToDo(region: Region): FencelineError {
  return new FencelineError("over_capacity", {
    message: `the append function of ${region} has too much to do; try again`,
    sideEffects: "none",
  });
}
