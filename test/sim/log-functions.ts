/**
 * What serves logs in one process: the shipped append and read operations. A reader that cannot decide a tail
 * has it settled by an append function of the owner's region, over the network, and by its own if that is
 * silent (rule 14).
 */
import { unavailable } from "../../lib/protocol/errors.ts";
import type { LogName, Region } from "../../lib/protocol/ids.ts";
import type { LogAppends } from "../../lib/protocol/log/log-appends.ts";
import type { Settler } from "../../lib/protocol/log/log-ports.ts";
import type { ReadOperations } from "../../lib/protocol/log/operations.ts";
import { withTimeout } from "../../lib/protocol/waiting.ts";
import { composeAnySizes } from "../process-ports.ts";
import { callFunctions } from "./function-calls.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { World } from "./world.ts";

/** How long a reader waits for another region's function to settle a tail. */
const SETTLE_WAIT_MS = 8_000;

export interface LogFunctions {
  readonly process: SimulatedProcess;
  readonly appends: LogAppends;
  readonly reads: ReadOperations;
}

export function startLogFunctions(world: World, process: SimulatedProcess): LogFunctions {
  const composed = composeAnySizes(world.ports(process), (own) => settlerFrom(world, process, own));
  const functions = { process, appends: composed.append, reads: composed.read };
  world.functions.push(functions);
  return functions;
}

function settlerFrom(world: World, process: SimulatedProcess, own: LogAppends): Settler {
  return {
    settle: async (ownerRegion, log) => {
      if (world.fleets.has(ownerRegion)) return await settleThrough(world, process, own, ownerRegion, log);
      const there = world.functions.findLast(
        (one) => one.process.region === ownerRegion && one.process.state === "running",
      );
      if (there === undefined || there.process === process) return await own.settle(log);
      try {
        await withTimeout(process.clock, SETTLE_WAIT_MS, `settling ${log}`, () =>
          settleThere(world, process, there, ownerRegion, log),
        );
      } catch {
        await own.settle(log);
      }
    },
  };
}

/** The owner's function, as it is deployed; or whatever this process can do itself. */
async function settleThrough(
  world: World,
  process: SimulatedProcess,
  own: LogAppends,
  region: Region,
  log: LogName,
): Promise<void> {
  try {
    await withTimeout(process.clock, SETTLE_WAIT_MS, `settling ${log}`, () =>
      callFunctions<void>(world, process, region, {
        isRepeatable: true,
        about: { kind: "settle", isForwarded: false },
        act: (appends) => appends.settle(log),
      }),
    );
  } catch {
    await own.settle(log);
  }
}

function settleThere(
  world: World,
  process: SimulatedProcess,
  there: LogFunctions,
  region: Region,
  log: LogName,
): Promise<void> {
  const to = { name: there.process.name, region };
  return world.path(process, "function", to).call<void>((_service, reply) => {
    if (there.process.state === "crashed") return reply.fail(unavailable("the function is gone", "none"));
    there.process.enter(() => {
      there.appends.settle(log).then(
        () => reply.answer(),
        (error) => reply.fail(error),
      );
    });
  });
}
