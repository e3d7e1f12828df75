/** What ends a log or its records: trim, seal, delete. Each may be sent again after a lost answer. */
import * as z from "zod/mini";
import { logIncarnation, logName, seqNum } from "../protocol/ids.ts";
import { deletedLog, sealedLog, trimBody, trimmed } from "./log-end-wire.ts";
import { type ApiApp, answer, jsonBody, route } from "./route.ts";
import { problems } from "./route-problems.ts";
import { type ApiOptions, logParams, logRequest } from "./routing.ts";
import { noted } from "./schema.ts";
import { readSmallBody, refuseBody, SMALL_BODY_BYTES_MAX } from "./small-body.ts";
import { strictQuery } from "./strict-query.ts";

const TRIM_POINT = { what: "seq_num", example: '{"seq_num": 5}' };

const trimLog = route({
  id: "trimLog",
  method: "post",
  path: "/v1/logs/{log}/trim",
  summary: "Lets go of the records below a seq_num, up to the tail. Goes forward only.",
  request: logRequest,
  body: jsonBody(trimBody, SMALL_BODY_BYTES_MAX),
  problems: problems("body", "metadata", "log", "position_unwritten"),
  answers: { 200: answer(trimmed, "The log as it is trimmed now.") },
});

const sealLog = route({
  id: "sealLog",
  method: "post",
  path: "/v1/logs/{log}/seal",
  summary: "Ends the log for ever: nothing can be appended any more, everything can be read.",
  request: logRequest,
  problems: problems("body", "metadata", "log", "writes"),
  answers: { 200: answer(sealedLog, "The log is sealed.") },
});

const deleteLog = route({
  id: "deleteLog",
  method: "delete",
  path: "/v1/logs/{log}",
  summary: "Deletes the log and its records. A log that is created with this name later is another one.",
  request: () => ({
    params: logParams(),
    query: strictQuery({
      incarnation: z.optional(
        noted(z.string(), {
          description:
            "Delete only this life of the name, as GET tells it. Makes a repeated deletion safe: it never " +
            "meets a log that was created with the name since.",
        }),
      ),
    }),
  }),
  problems: problems("metadata", "log", "writes"),
  answers: {
    200: answer(deletedLog, "The log is deleted."),
    202: answer(deletedLog, "Nobody reads or writes the log any more; the rest of it is yet to go."),
  },
});

export function addLogEndRoutes(app: ApiApp, options: ApiOptions): void {
  app.serve(trimLog, async (c, { params }) => {
    const { log } = params;
    const { seq_num: to } = await readSmallBody(c.req.raw, trimBody, TRIM_POINT);
    return c.json({ log, first_seq_num: await options.append.trim(logName(log), seqNum(to)) }, 200);
  });
  app.serve(sealLog, async (c, { params }) => {
    const { log } = params;
    await refuseBody(c.req.raw);
    const tail = await options.append.seal(logName(log));
    return c.json({ log, sealed: true as const, tail }, 200);
  });
  app.serve(deleteLog, async (c, { params, query }) => {
    const { log } = params;
    const { incarnation } = query;
    const only = incarnation === undefined ? undefined : logIncarnation(incarnation);
    const state = await options.append.deleteLog(logName(log), only);
    return state === "deleted" ? c.json({ log, state }, 200) : c.json({ log, state }, 202);
  });
}
