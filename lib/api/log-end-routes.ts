/** What ends a log or its records: trim, seal, delete. Each may be sent again after a lost answer. */
import { createRoute, z } from "@hono/zod-openapi";
import { logIncarnation, logName, seqNum } from "../protocol/ids.ts";
import { ApiError } from "./api-error.ts";
import { deletedLog, sealedLog, trimBody, trimmed } from "./log-end-wire.ts";
import { mediaType, readJson } from "./request-body.ts";
import { type ApiApp, type ApiOptions, answer, errorAnswers, logParams } from "./routing.ts";
import { strictQuery } from "./strict-query.ts";
import { invalidRequest } from "./validation.ts";

const TRIM_BODY_BYTES_MAX = 1024;

const trimLog = createRoute({
  method: "post",
  path: "/v1/logs/{log}/trim",
  summary: "Lets go of the records below a seq_num, up to the tail. Goes forward only.",
  request: { params: logParams },
  responses: { 200: answer(trimmed, "The log as it is trimmed now."), ...errorAnswers },
});

const sealLog = createRoute({
  method: "post",
  path: "/v1/logs/{log}/seal",
  summary: "Ends the log for ever: nothing can be appended any more, everything can be read.",
  request: { params: logParams },
  responses: { 200: answer(sealedLog, "The log is sealed."), ...errorAnswers },
});

const deleteLog = createRoute({
  method: "delete",
  path: "/v1/logs/{log}",
  summary: "Deletes the log and its records. A log that is created with this name later is another one.",
  request: {
    params: logParams,
    query: strictQuery({
      incarnation: z
        .string()
        .optional()
        .openapi({
          description:
            "Delete only this life of the name, as GET tells it. Makes a repeated deletion safe: it never " +
            "meets a log that was created with the name since.",
        }),
    }),
  },
  responses: {
    200: answer(deletedLog, "The log is deleted."),
    202: answer(deletedLog, "Nobody reads or writes the log any more; the rest of it is yet to go."),
    ...errorAnswers,
  },
});

export function addLogEndRoutes(app: ApiApp, options: ApiOptions): void {
  // The body is read under its own limit, so only its documentation is declared.
  app.openAPIRegistry.registerPath({
    ...trimLog,
    request: {
      ...trimLog.request,
      body: { required: true, content: { "application/json": { schema: trimBody } } },
    },
  });
  app.openapi({ ...trimLog, hide: true }, async (c) => {
    const { log } = c.req.valid("param");
    const to = await readTrimPoint(c.req.raw);
    return c.json({ log, first_seq_num: await options.append.trim(logName(log), seqNum(to)) }, 200);
  });
  app.openapi(sealLog, async (c) => {
    const { log } = c.req.valid("param");
    const tail = await options.append.seal(logName(log));
    return c.json({ log, sealed: true as const, tail }, 200);
  });
  app.openapi(deleteLog, async (c) => {
    const { log } = c.req.valid("param");
    const { incarnation } = c.req.valid("query");
    const only = incarnation === undefined ? undefined : logIncarnation(incarnation);
    const state = await options.append.deleteLog(logName(log), only);
    return state === "deleted" ? c.json({ log, state }, 200) : c.json({ log, state }, 202);
  });
}

async function readTrimPoint(request: Request): Promise<number> {
  const type = mediaType(request);
  if (type !== "application/json") {
    throw new ApiError(
      "unsupported_media_type",
      `Content-Type ${JSON.stringify(type)} is not taken: send application/json, such as {"seq_num": 5}.`,
    );
  }
  const given = await readJson(request, TRIM_BODY_BYTES_MAX, "Send the seq_num alone.");
  const parsed = trimBody.safeParse(given);
  if (!parsed.success) throw invalidRequest("body", parsed.error, given);
  return parsed.data.seq_num;
}
