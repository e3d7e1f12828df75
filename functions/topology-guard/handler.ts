/** Lambda's entry to the guard over the topology, which CloudFormation calls. */
import { readRegionSettings } from "../../lib/environment.ts";
import type { CustomResourceEvent } from "../../lib/lambda/custom-resource.ts";
import { regionWorld } from "../../lib/lambda/region-world.ts";
import { guardTopology } from "../../lib/lambda/topology-guard.ts";

const { AWS_REGION: region = "" } = process.env;
const { metadata } = regionWorld(readRegionSettings(process.env), { region, stage: "topology-guard" }).ports;

export const handler = (event: CustomResourceEvent): Promise<void> => guardTopology(metadata, event);
