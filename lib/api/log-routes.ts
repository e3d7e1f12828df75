/** Logs themselves: create, list, describe, their segments, settling. */
import { createRoute, z } from "@hono/zod-openapi";
import { logName, region } from "../protocol/ids.ts";
import { limits } from "../protocol/limits.ts";
import { createdAnswer, logAnswer, segmentAnswer } from "./answers.ts";
import { ApiError } from "./api-error.ts";
import { configOf } from "./log-config.ts";
import { checkedLogName } from "./log-name.ts";
import { mediaType, readBody, readJson } from "./request-body.ts";
import { type ApiApp, type ApiOptions, answer, errorAnswers, logParams } from "./routing.ts";
import { strictQuery } from "./strict-query.ts";
import { invalidRequest } from "./validation.ts";
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

const createLog = createRoute({
  method: "put",
  path: "/v1/logs/{log}",
  summary: "Creates the log, or finds it with the same configuration.",
  request: { params: logParams },
  responses: {
    200: answer(createdLog, "The log was there with this configuration."),
    201: answer(createdLog, "The log was created."),
    ...errorAnswers,
  },
});

const listLogs = createRoute({
  method: "get",
  path: "/v1/logs",
  summary: "Log names in order.",
  request: {
    query: strictQuery({
      prefix: z.string().default(""),
      start_after: z.string().optional(),
      limit: wholeNumber(1, limits.listLogsMax).optional(),
    }),
  },
  responses: { 200: answer(logPage, "One page of names."), ...errorAnswers },
});

const describeLog = createRoute({
  method: "get",
  path: "/v1/logs/{log}",
  summary: "The log's configuration and state.",
  request: { params: logParams },
  responses: { 200: answer(logDescription, "The log."), ...errorAnswers },
});

const listSegments = createRoute({
  method: "get",
  path: "/v1/logs/{log}/segments",
  summary: "The log's segments in order, each with its ledger and owner.",
  request: { params: logParams },
  responses: { 200: answer(segmentList, "The segments."), ...errorAnswers },
});

const settle = createRoute({
  method: "post",
  path: "/v1/logs/{log}/settle",
  summary: "Makes every acknowledged record readable, also while bookies of the tail are down.",
  request: { params: logParams },
  responses: { 200: answer(settled, "The tail is settled."), ...errorAnswers },
});

export function addLogRoutes(app: ApiApp, options: ApiOptions): void {
  // The body of a create is optional and read under its own limit, so only its documentation is declared.
  app.openAPIRegistry.registerPath({
    ...createLog,
    request: { ...createLog.request, body: { content: { "application/json": { schema: createBody } } } },
  });
  app.openapi({ ...createLog, hide: true }, async (c) => {
    const body = await readCreateBody(c.req.raw);
    const config = configOf(body, options.defaultConfig);
    const preferred = body.preferred_region === undefined ? [] : [region(body.preferred_region)];
    const name = logName(c.req.valid("param").log);
    const { created, description, warnings } = await options.append.createLog(name, config, ...preferred);
    const told = createdAnswer(description, warnings);
    return created ? c.json(told, 201) : c.json(told, 200);
  });
  app.openapi(listLogs, async (c) => {
    const { prefix, start_after, limit } = c.req.valid("query");
    const page = await options.read.listLogs({
      prefix,
      ...(start_after === undefined ? {} : { startAfter: checkedLogName(start_after) }),
      limit: limit ?? LIST_LIMIT_DEFAULT,
    });
    return c.json({ logs: [...page.logs], has_more: page.hasMore }, 200);
  });
  app.openapi(describeLog, async (c) => {
    const description = await options.read.describeLog(logName(c.req.valid("param").log));
    return c.json(logAnswer(description), 200);
  });
  app.openapi(listSegments, async (c) => {
    const segments = await options.read.segments(logName(c.req.valid("param").log));
    return c.json({ segments: segments.map(segmentAnswer) }, 200);
  });
  app.openapi(settle, async (c) => {
    const { log } = c.req.valid("param");
    await options.append.settle(logName(log));
    return c.json({ log, settled: true as const }, 200);
  });
}

async function readCreateBody(request: Request): Promise<z.infer<typeof createBody>> {
  const type = mediaType(request);
  if (type !== "application/json") {
    const body = await readBody(request, CREATE_BODY_BYTES_MAX, "Send the configuration alone.");
    if (body.length === 0) return {};
    throw new ApiError(
      "unsupported_media_type",
      `Content-Type ${JSON.stringify(type)} is not taken: send application/json, ` +
        "or no body for the defaults.",
    );
  }
  const given = await readJson(request, CREATE_BODY_BYTES_MAX, "Send the configuration alone.");
  const parsed = createBody.safeParse(given);
  if (!parsed.success) throw invalidRequest("body", parsed.error, given);
  return parsed.data;
}
