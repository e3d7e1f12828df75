/** The region that owns a log, or should: show, transfer, prefer. Repeat any after a lost answer. */
import { logName, region } from "../protocol/ids.ts";
import type { Ownership } from "../protocol/log/operations.ts";
import { logAnswer } from "./answers.ts";
import { configureBody, type OwnershipJson, ownership, transferBody } from "./owner-wire.ts";
import { type ApiApp, answer, jsonBody, route } from "./route.ts";
import { problems } from "./route-problems.ts";
import { type ApiOptions, logRequest, nameOwner } from "./routing.ts";
import { readSmallBody, SMALL_BODY_BYTES_MAX } from "./small-body.ts";
import { logDescription } from "./wire.ts";

const REGION = { what: "region", example: '{"region": "us-west-2"}' };
const PREFERENCE = { what: "preferred region", example: '{"preferred_region": "us-west-2"}' };

const showOwner = route({
  id: "showOwner",
  method: "get",
  path: "/v1/logs/{log}/owner",
  summary: "The region that owns the log, read consistently.",
  request: logRequest,
  problems: problems("metadata", "log", "log_sealed"),
  answers: { 200: answer(ownership, "The owner.", ["Log-Owner"]) },
});

const transferOwner = route({
  id: "transferOwner",
  method: "post",
  path: "/v1/logs/{log}/owner/transfer",
  summary: "Makes a region own the log: by leave of the owner, or by recovery if that does not answer.",
  request: logRequest,
  body: jsonBody(transferBody, SMALL_BODY_BYTES_MAX),
  problems: problems(
    "body",
    "metadata",
    "log",
    "writes",
    "log_sealed",
    "region_not_found",
    "region_not_accepting",
    "not_owner",
  ),
  answers: { 200: answer(ownership, "The region owns the log, now or since before.", ["Log-Owner"]) },
});

const configureLog = route({
  id: "configureLog",
  method: "patch",
  path: "/v1/logs/{log}",
  summary: "Changes what of a log's configuration may change: the region that should own it.",
  request: logRequest,
  body: jsonBody(configureBody, SMALL_BODY_BYTES_MAX),
  problems: problems("body", "metadata", "log", "region_not_found"),
  answers: { 200: answer(logDescription, "The log as it is then.") },
});

export function addOwnerRoutes(app: ApiApp, options: ApiOptions): void {
  app.serve(showOwner, async (c, { params }) => {
    const { log } = params;
    const found = await options.read.owner(logName(log), c.req.raw.signal);
    nameOwner(c, found.owner, found.epoch);
    return c.json(ownershipAnswer(log, found), 200);
  });
  app.serve(transferOwner, async (c, { params }) => {
    const { log } = params;
    const { region: to } = await readSmallBody(c.req.raw, transferBody, REGION);
    const now = await options.append.transferOwner(logName(log), region(to));
    nameOwner(c, now.owner, now.epoch);
    return c.json(ownershipAnswer(log, now), 200);
  });
  app.serve(configureLog, async (c, { params }) => {
    const { log } = params;
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
