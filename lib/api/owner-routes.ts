/** Who owns a log, and who should: show, transfer, prefer. Each may be sent again after a lost answer. */
import { createRoute } from "@hono/zod-openapi";
import { logName, region } from "../protocol/ids.ts";
import type { Ownership } from "../protocol/log/operations.ts";
import { logAnswer } from "./answers.ts";
import { configureBody, type OwnershipJson, ownership, transferBody } from "./owner-wire.ts";
import { type ApiApp, type ApiOptions, answer, errorAnswers, logParams, nameOwner } from "./routing.ts";
import { readSmallBody, withBody } from "./small-body.ts";
import { logDescription } from "./wire.ts";

const REGION = { what: "region", example: '{"region": "us-west-2"}' };
const PREFERENCE = { what: "preferred region", example: '{"preferred_region": "us-west-2"}' };

const showOwner = createRoute({
  method: "get",
  path: "/v1/logs/{log}/owner",
  summary: "The region that owns the log, read consistently.",
  request: { params: logParams },
  responses: { 200: answer(ownership, "The owner."), ...errorAnswers },
});

const transferOwner = createRoute({
  method: "post",
  path: "/v1/logs/{log}/owner/transfer",
  summary: "Makes a region own the log: by leave of the owner, or by recovery if that does not answer.",
  request: { params: logParams },
  responses: { 200: answer(ownership, "The region owns the log, now or since before."), ...errorAnswers },
});

const configureLog = createRoute({
  method: "patch",
  path: "/v1/logs/{log}",
  summary: "Changes what of a log's configuration may change: the region that should own it.",
  request: { params: logParams },
  responses: { 200: answer(logDescription, "The log as it is then."), ...errorAnswers },
});

export function addOwnerRoutes(app: ApiApp, options: ApiOptions): void {
  // Bodies are read under a limit of their own, so only their documentation is declared.
  app.openAPIRegistry.registerPath(withBody(transferOwner, transferBody));
  app.openAPIRegistry.registerPath(withBody(configureLog, configureBody));
  app.openapi(showOwner, async (c) => {
    const { log } = c.req.valid("param");
    const found = await options.read.owner(logName(log));
    nameOwner(c, found.owner, found.epoch);
    return c.json(ownershipAnswer(log, found), 200);
  });
  app.openapi({ ...transferOwner, hide: true }, async (c) => {
    const { log } = c.req.valid("param");
    const { region: to } = await readSmallBody(c.req.raw, transferBody, REGION);
    const now = await options.append.transferOwner(logName(log), region(to));
    nameOwner(c, now.owner, now.epoch);
    return c.json(ownershipAnswer(log, now), 200);
  });
  app.openapi({ ...configureLog, hide: true }, async (c) => {
    const { log } = c.req.valid("param");
    const { preferred_region: preferred } = await readSmallBody(c.req.raw, configureBody, PREFERENCE);
    const name = logName(log);
    const wanted = preferred === null ? undefined : region(preferred);
    return c.json(logAnswer(await options.append.preferRegion(name, wanted)), 200);
  });
}

function ownershipAnswer(log: string, { owner, epoch, preferred }: Ownership): OwnershipJson {
  return {
    log,
    owner: owner ?? null,
    ...(epoch === undefined ? {} : { epoch }),
    ...(preferred === undefined ? {} : { preferred_region: preferred }),
  };
}
