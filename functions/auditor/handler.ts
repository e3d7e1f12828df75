/** Lambda's entry to a region's `auditor` function. */
import type { Context } from "aws-lambda";
import { readRegionSettings } from "../../lib/environment.ts";
import { AuditorFunction } from "../../lib/lambda/auditor-function.ts";
import { regionWorld } from "../../lib/lambda/region-world.ts";

const { AWS_REGION: region = "" } = process.env;
const auditor = new AuditorFunction(regionWorld(readRegionSettings(process.env), region, "auditor"));

export const handler = (event: unknown, context: Context): Promise<unknown> => auditor.serve(event, context);
