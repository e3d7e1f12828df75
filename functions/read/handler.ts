/** Lambda's entry to a region's `read` function. */
import { readRegionSettings } from "../../lib/environment.ts";
import { ReadFunction } from "../../lib/lambda/read-function.ts";
import { regionWorld } from "../../lib/lambda/region-world.ts";
import { handlerFor } from "../../lib/lambda/response-stream.ts";

const { AWS_REGION: region = "" } = process.env;
const settings = readRegionSettings(process.env);
const read = new ReadFunction(regionWorld(settings, { region, stage: "read" }));

export const handler = handlerFor(
  settings.reads,
  (event) => read.serve(event),
  (event, stream) => read.stream(event, stream),
);
