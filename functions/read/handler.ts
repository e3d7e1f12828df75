/** Lambda's entry to a region's `read` function. */
import type { Context } from "aws-lambda";
import { readRegionSettings } from "../../lib/environment.ts";
import { ReadFunction } from "../../lib/lambda/read-function.ts";
import { regionWorld } from "../../lib/lambda/region-world.ts";

const { AWS_REGION: region = "" } = process.env;
const read = new ReadFunction(regionWorld(readRegionSettings(process.env), region, "read"));

export const handler = (event: unknown, context: Context): Promise<unknown> => read.serve(event, context);
