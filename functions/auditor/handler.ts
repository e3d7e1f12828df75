/** Lambda's entry to a region's `auditor` function. */
import { readRegionSettings } from "../../lib/environment.ts";
import { AuditorFunction } from "../../lib/lambda/auditor-function.ts";
import { regionWorld } from "../../lib/lambda/region-world.ts";

const { AWS_REGION: region = "", AWS_LAMBDA_LOG_STREAM_NAME: instance = "local" } = process.env;
const world = regionWorld(readRegionSettings(process.env), { region, stage: "auditor", instance });
const auditor = new AuditorFunction(world);

export const handler = (event: unknown): Promise<unknown> => auditor.serve(event);
