/**
 * The ports of a process in a test, with a stand-in for each that the test says nothing about. A new port
 * gets its stand-in here, and reaches the stories, the simulator and every other test.
 */
import { NodeDigest } from "../lib/adapters/node/node-digest.ts";
import {
  type ComposedRegion,
  composeRegion,
  type ProcessPorts,
  type ProcessWorld,
  processPorts,
  type RegionFields,
} from "../lib/protocol/compose-region.ts";
import type { LogPorts } from "../lib/protocol/log/log-ports.ts";
import type { Topology } from "../lib/protocol/ports.ts";
import type { BookieAddress } from "../lib/protocol/replication.ts";

type Given = "clock" | "random" | "metadata" | "bookies" | "region";

export type TestWorld = Pick<ProcessWorld, Given> & Partial<ProcessWorld>;

export function testPorts(world: TestWorld): ProcessPorts {
  return processPorts({
    digest: new NodeDigest(),
    trace: { emit: () => undefined },
    bookiesAtStart: [],
    ...world,
  });
}

/** A topology that stands still. */
export const fixed = (bookies: readonly BookieAddress[]) => (): Topology => ({ bookies: () => bookies });

/** The log layer must be safe with quorum sizes that admission refuses, too: small ones show most orders. */
export function composeAnySizes(ports: LogPorts, settler?: RegionFields["settler"]): ComposedRegion {
  const askAdmission = () => ({ kind: "accepted", warnings: [] }) as const;
  return composeRegion(ports, { askAdmission, ...(settler === undefined ? {} : { settler }) });
}
