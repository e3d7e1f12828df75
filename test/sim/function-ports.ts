/** What an instance of the `append` function is given beside the ports of every process: leases, and the other regions. */

import { FencelineError, hasCode } from "../../lib/protocol/errors.ts";
import type { Region } from "../../lib/protocol/ids.ts";
import type {
  ForwardAnswer,
  LogPorts,
  OwnerAnswer,
  RegionAppends,
} from "../../lib/protocol/log/log-ports.ts";
import type { AppendRequest } from "../../lib/protocol/log/operations.ts";
import { callFunctions } from "./function-calls.ts";
import { InboxPath } from "./inbox-path.ts";
import { LeasePath } from "./lease-path.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { World } from "./world.ts";

export function leasePorts(world: World, process: SimulatedProcess): LogPorts {
  const { region } = process;
  const to = { name: `leases-${region}`, region };
  const path = world.path(process, "lease", to);
  const store = new LeasePath(path, world.leaseTable(region), process, (log, lease) =>
    world.observers.leaseRead(process, log, lease),
  );
  const functions = world.plan.functions?.find((one) => one.region === region);
  const inbox =
    functions?.residents === undefined
      ? {}
      : {
          inbox: new InboxPath(
            world.path(process, "inbox", { name: `inbox-${region}`, region }),
            world.inboxOf(region),
            world.random(`inbox ${process.name} ${process.ordinal}`),
          ),
        };
  return world.ports(process, {
    ...inbox,
    // One name for all instances of a region: names are for people, and decide nothing (rule 16).
    leases: { store, holder: `append ${region}` },
    regions: otherRegions(world, process),
  });
}

function otherRegions(world: World, process: SimulatedProcess): RegionAppends {
  const told = (region: Region, what: "append" | "canOwn" | "ask", request?: AppendRequest) => {
    const call = { process, to: region, what, ...(request === undefined ? {} : { request }) };
    world.observers.regionCalled(call, undefined);
    return call;
  };
  return {
    append: async (region, request) => {
      const call = told(region, "append", request);
      const answer = await forward(world, process, region, request);
      world.observers.regionCalled(call, answer);
      return answer;
    },
    ask: async (region, request) => {
      const call = { ...told(region, "ask"), asked: request };
      world.observers.regionCalled(call, undefined);
      try {
        return await callFunctions<OwnerAnswer>(world, process, region, {
          isRepeatable: true,
          about: { kind: "ask", isForwarded: true },
          act: (appends) => appends.serve(request),
        });
      } catch (error) {
        if (hasCode(error, "over_capacity")) return { kind: "refused", error };
        throw error;
      }
    },
    canOwn: async (region, log) => {
      const call = told(region, "canOwn");
      const answer = await callFunctions(world, process, region, {
        isRepeatable: true,
        about: { kind: "canOwn", isForwarded: true },
        act: (appends) => appends.canOwn(log),
      }).catch((error) => {
        // It answered, whatever is made of that.
        if (hasCode(error, "over_capacity")) world.observers.regionCalled(call, true);
        return whoIsBusyLives(error);
      });
      world.observers.regionCalled(call, answer);
      return answer;
    },
  };
}

function whoIsBusyLives(error: unknown): true {
  if (hasCode(error, "over_capacity")) return true;
  throw error;
}

/** Whatever the function over there says is an answer, a refusal because it has too much to do included. */
async function forward(
  world: World,
  process: SimulatedProcess,
  region: Region,
  request: AppendRequest,
): Promise<ForwardAnswer> {
  try {
    return await callFunctions(world, process, region, {
      isRepeatable: false,
      about: { kind: "append", isForwarded: true, request },
      act: async (appends, delivered = request): Promise<ForwardAnswer> => {
        try {
          return { kind: "acknowledged", ack: await appends.append(delivered) };
        } catch (error) {
          if (error instanceof FencelineError) return { kind: "refused", error };
          throw error;
        }
      },
    });
  } catch (error) {
    if (hasCode(error, "over_capacity")) return { kind: "refused", error };
    throw error;
  }
}
