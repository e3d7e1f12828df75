/** Logs themselves: create, list, describe, their segments, settling. */
import * as z from "zod/mini";
import { logName, region } from "../protocol/ids.ts";
import { limits } from "../protocol/limits.ts";
import { createdAnswer, logAnswer, segmentAnswer } from "./answers.ts";
import { ApiError } from "./api-error.ts";
import { configOf } from "./log-config.ts";
import { shortened } from "./log-name.ts";
import { mediaType, readBody, readJson } from "./request-body.ts";
import { type ApiApp, answer, jsonBody, route } from "./route.ts";
import { problems } from "./route-problems.ts";
import { type ApiOptions, logNameGiven, logRequest } from "./routing.ts";
import { noted, type Wire } from "./schema.ts";
import { checkedBody } from "./small-body.ts";
import { strictQuery } from "./strict-query.ts";
import {
  createBody,
  createdLog,
  logDescription,
  logPage,
  segmentList,
  settled,
  wholeNumber,
} from "./wire.ts";

const CREATE_BODY_BYTES_MAX = 64 * 1024;
const LIST_LIMIT_DEFAULT = 100;

const createLog = route({
  id: "createLog",
  method: "put",
  path: "/v1/logs/{log}",
  summary: "Creates the log, or finds it with the same configuration.",
  request: logRequest,
  body: jsonBody(createBody, CREATE_BODY_BYTES_MAX, false),
  problems: problems("body", "metadata", "log_exists", "region_not_found"),
  answers: {
    200: answer(createdLog, "The log was there with this configuration."),
    201: answer(createdLog, "The log was created."),
  },
});

const listLogs = route({
  id: "listLogs",
  method: "get",
  path: "/v1/logs",
  summary: "Log names in order.",
  request: () => ({
    query: strictQuery({
      prefix: z._default(z.string(), ""),
      start_after: z.optional(logNameGiven()),
      limit: z.optional(
        noted(wholeNumber(1, limits.listLogsMax), {
          description: `Names, at most; ${LIST_LIMIT_DEFAULT} if absent.`,
          default: LIST_LIMIT_DEFAULT,
        }),
      ),
    }),
  }),
  problems: problems("metadata"),
  answers: { 200: answer(logPage, "One page of names.") },
});

const describeLog = route({
  id: "describeLog",
  method: "get",
  path: "/v1/logs/{log}",
  summary: "The log's configuration and state.",
  request: logRequest,
  problems: problems("metadata", "log"),
  answers: { 200: answer(logDescription, "The log.") },
});

const listSegments = route({
  id: "listSegments",
  method: "get",
  path: "/v1/logs/{log}/segments",
  summary: "The log's segments in order, each with its ledger and owner.",
  request: logRequest,
  problems: problems("metadata", "log"),
  answers: { 200: answer(segmentList, "The segments.") },
});

const settle = route({
  id: "settleLog",
  method: "post",
  path: "/v1/logs/{log}/settle",
  summary: "Makes every acknowledged record readable, also while bookies of the tail are down.",
  request: logRequest,
  problems: problems("metadata", "log", "writes"),
  answers: { 200: answer(settled, "The tail is settled.") },
});

export function addLogRoutes(app: ApiApp, options: ApiOptions): void {
  app.serve(createLog, async (c, { params }) => {
    const body = await readCreateBody(c.req.raw);
    const config = configOf(body, options.defaultConfig);
    const preferred = body.preferred_region === undefined ? [] : [region(body.preferred_region)];
    const name = logName(params.log);
    const { created, description, warnings } = await options.append.createLog(name, config, ...preferred);
    const told = createdAnswer(description, warnings);
    return created ? c.json(told, 201) : c.json(told, 200);
  });
  app.serve(listLogs, async (c, { query }) => {
    const { prefix, start_after, limit } = query;
    const request = {
      prefix,
      ...(start_after === undefined ? {} : { startAfter: logName(start_after) }),
      limit: limit ?? LIST_LIMIT_DEFAULT,
    };
    const page = await options.read.listLogs(request, c.req.raw.signal);
    return c.json({ logs: [...page.logs], has_more: page.hasMore }, 200);
  });
  app.serve(describeLog, async (c, { params }) => {
    const description = await options.read.describeLog(logName(params.log), c.req.raw.signal);
    return c.json(logAnswer(description), 200);
  });
  app.serve(listSegments, async (c, { params }) => {
    const segments = await options.read.segments(logName(params.log), c.req.raw.signal);
    return c.json({ segments: segments.map(segmentAnswer) }, 200);
  });
  app.serve(settle, async (c, { params }) => {
    const { log } = params;
    await options.append.settle(logName(log));
    return c.json({ log, settled: true as const }, 200);
  });
}

async function readCreateBody(request: Request): Promise<Wire<typeof createBody>> {
  const type = mediaType(request);
  if (type !== "application/json") {
    const body = await readBody(request, CREATE_BODY_BYTES_MAX, "Send the configuration alone.");
    if (body.length === 0) return {};
    throw new ApiError(
      "unsupported_media_type",
      `Content-Type ${JSON.stringify(shortened(type))} is not taken: send application/json, ` +
        "or no body for the defaults.",
    );
  }
  const given = await readJson(request, CREATE_BODY_BYTES_MAX, "Send the configuration alone.");
  return checkedBody(createBody, given);
}
