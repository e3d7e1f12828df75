/** Lambda's entry to a bookie's function. */
import { readBookieSettings } from "../../lib/environment.ts";
import { BookieFunction } from "../../lib/lambda/bookie-function.ts";

const { AWS_REGION: region = "", AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL } = process.env;
/** AWS names buckets in host names; an endpoint of one's own need not. */
const pathStyle = (AWS_ENDPOINT_URL_S3 ?? AWS_ENDPOINT_URL) !== undefined;
const bookie = new BookieFunction(readBookieSettings(process.env), region, pathStyle);

export const handler = (event: unknown): Promise<unknown> => bookie.serve(event);
