/** Lambda's entry to a region's `append` function. */
import { readRegionSettings } from "../../lib/environment.ts";
import { AppendFunction } from "../../lib/lambda/append-function.ts";
import { regionWorld } from "../../lib/lambda/region-world.ts";

const { AWS_REGION: region = "", AWS_LAMBDA_LOG_STREAM_NAME: instance = "local" } = process.env;
const world = regionWorld(readRegionSettings(process.env), { region, stage: "append", instance });
const append = new AppendFunction(world);

export const handler = (event: unknown): Promise<unknown> => append.serve(event);
