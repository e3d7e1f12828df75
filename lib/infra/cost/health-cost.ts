/** What GET /v1/health costs, counted request by request: it asks every bookie, each time. */
import { APPEND_GB, BOOKIE_GB, type CostLine, functionTime, MILLION } from "./append-cost.ts";
import { prices } from "./prices.ts";

interface HealthRequests {
  readonly bookieCalls: number;
  readonly slotGets: number;
  /** Not consistent ones, at half the price. */
  readonly metadataReads: number;
  /** The same, of regions and of bookies, by a process that has not read them in the last seconds. */
  readonly registryReads: number;
  readonly appendCalls: number;
  readonly leaseReads: number;
}

/** Test/infra/cost.test.ts counts the same on the shipped functions. */
export function healthRequests(bookies: number, replicas: number): HealthRequests {
  return {
    bookieCalls: bookies,
    // Of a slot that is empty.
    slotGets: bookies,
    metadataReads: replicas,
    registryReads: 2,
    // Whether this region's writers could own a log.
    appendCalls: 1,
    leaseReads: 1,
  };
}

interface HealthCase {
  readonly bookies: number;
  readonly replicas: number;
  readonly withGateway: boolean;
  /** Time that the read and append functions take for it, and a bookie's function; in ms. */
  readonly askMs: number;
  readonly bookieMs: number;
}

/** In US dollars for a million. */
export function healthCost(one: HealthCase): readonly CostLine[] {
  const requests = healthRequests(one.bookies, one.replicas);
  const staleReads = requests.metadataReads + requests.registryReads;
  const asking = prices.lambdaRequest + functionTime(one.askMs, APPEND_GB);
  return [
    { what: "REST API, 1 request", dollars: one.withGateway ? prices.restApiRequest : 0 },
    {
      what: `read and append functions, 2 requests of ${one.askMs} ms`,
      dollars: (1 + requests.appendCalls) * asking,
    },
    {
      what: `bookie functions, ${requests.bookieCalls} requests of ${one.bookieMs} ms`,
      dollars: requests.bookieCalls * (prices.lambdaRequest + functionTime(one.bookieMs, BOOKIE_GB)),
    },
    { what: `S3, ${requests.slotGets} GET`, dollars: requests.slotGets * prices.s3Get },
    {
      what: `tables, ${staleReads + requests.leaseReads} reads`,
      dollars: (staleReads / 2 + requests.leaseReads) * prices.tableRead,
    },
  ];
}

/** Of one who asks one region every so often, in a month of 30 days. */
export function monthOfHealth(perMillion: number, everyS: number): number {
  return (perMillion * ((30 * 86_400) / everyS)) / MILLION;
}
