/** The control endpoint of a running cloud: shows its regions, takes one down, brings it back, adds more. */
import { timingSafeEqual } from "node:crypto";
import { Hono } from "hono";
import { checkOrigin } from "../api/origins.ts";
import { problemResponse } from "../api/problem.ts";
import { FencelineError } from "../protocol/errors.ts";
import { LocalError, LocalNotFoundError } from "./local-error.ts";
import type { Manner } from "./region-switch.ts";

export interface RegionState {
  readonly name: string;
  readonly url: string;
  readonly state: "up" | Manner;
}

export interface ControlledCloud {
  regions(): readonly RegionState[];
  setRegion(name: string, state: "up" | Manner): Promise<void>;
  /**
   * Takes bookies down or up while their regions stay as they are: one by its name, or all of a region. Those
   * that were meant; none if there is no such name.
   */
  setBookies(name: string, state: "up" | Manner): Promise<readonly string[]>;
  /** Adds a region with so many bookies, whose ids are the answer. Throws LocalError. */
  addRegion(name: string, bookies: number): Promise<readonly string[]>;
  /** Adds a bookie, in the region's emptiest rack if none is named. Throws LocalError. */
  addBookie(region: string, rack: string | undefined): Promise<readonly string[]>;
}

/** Each request must carry the token that the control file holds. */
export function controlApp(cloud: ControlledCloud, token: string): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    checkOrigin(c.req.raw.headers, c.req.url, []);
    if (!isSame(c.req.header("authorization") ?? "", `Bearer ${token}`)) {
      throw invalid(
        "the token of control.json must come as Authorization: Bearer; use npx fenceline local region",
      );
    }
    await next();
  });
  app.get("/regions", (c) => c.json({ regions: cloud.regions() }));
  app.put("/regions/:name/:state", async (c) => {
    const { name, state } = c.req.param();
    const known = cloud.regions().map((region) => region.name);
    if (!known.includes(name)) {
      throw new LocalNotFoundError("region", `there is no region ${name}; there are ${known.join(", ")}`);
    }
    await cloud.setRegion(name, stateIn(state));
    return c.json({ regions: cloud.regions() });
  });
  app.put("/bookies/:name/:state", async (c) => {
    const { name, state } = c.req.param();
    const bookies = await cloud.setBookies(name, stateIn(state));
    if (bookies.length === 0) {
      const known = cloud.regions().map((region) => region.name);
      throw new LocalNotFoundError(
        "bookie",
        `there is no bookie and no region ${name}; the regions are ${known.join(", ")}, ` +
          "and npx fenceline region list names their bookies",
      );
    }
    return c.json({ bookies });
  });
  app.post("/regions/:name", async (c) => {
    const added = await cloud.addRegion(c.req.param("name"), Number(c.req.query("bookies")));
    return c.json({ added, regions: cloud.regions() });
  });
  app.post("/regions/:name/bookies", async (c) => {
    const added = await cloud.addBookie(c.req.param("name"), c.req.query("rack"));
    return c.json({ added, regions: cloud.regions() });
  });
  app.notFound((c) => {
    throw invalid(`there is no ${c.req.method} ${c.req.path}`);
  });
  app.onError((thrown, c) => {
    const error = thrown instanceof LocalError ? toldOverHttp(thrown) : thrown;
    const request = { requestId: crypto.randomUUID(), region: "control", method: c.req.method };
    return problemResponse(error, request);
  });
  return app;
}

function toldOverHttp(error: LocalError): FencelineError {
  if (!(error instanceof LocalNotFoundError)) return invalid(error.message);
  return new FencelineError(`${error.what}_not_found`, { message: error.message });
}

function stateIn(state: string): "up" | Manner {
  if (state === "up" || state === "refusing" || state === "hanging") return state;
  throw invalid(`it is up, refusing or hanging; got ${state}`);
}

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function invalid(message: string): FencelineError {
  return new FencelineError("invalid_request", { message });
}
