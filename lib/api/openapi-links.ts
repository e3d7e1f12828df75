/** Where an answer leads: what of it another operation takes, for generated clients and tests to follow. */

/** A link of OpenAPI; its texts are runtime expressions, or what is to be sent. */
export interface Link {
  readonly operationId: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly requestBody?: unknown;
}

const log = "$request.path.log";
const ofLog = (operationId: string, more: Omit<Link, "operationId"> = {}): Link => ({
  operationId,
  ...more,
  parameters: { log, ...more.parameters },
});
const record = [{ body: "a record" }];

/** To everything that a log takes. */
const created = [
  "describeLog",
  "listSegments",
  "settleLog",
  "readRecords",
  "readTail",
  "showOwner",
  "sealLog",
  "deleteLog",
].map((id) => ofLog(id));

const ledger = (operationId: string): Link => ({
  operationId,
  parameters: { id: "$response.body#/segments/0/ledger_id" },
});

/** By the operation, and the status of its answer. */
export const links: Readonly<Record<string, Readonly<Record<number, readonly Link[]>>>> = {
  createLog: {
    200: created,
    201: [
      ...created,
      ofLog("appendRecords", { requestBody: { records: record } }),
      ofLog("transferOwner", { requestBody: { region: "$response.header.Log-Region" } }),
      ofLog("configureLog", { requestBody: { preferred_region: "$response.header.Log-Region" } }),
    ],
  },
  listLogs: {
    200: ["describeLog", "readRecords", "listSegments", "showOwner"].map((operationId) => ({
      operationId,
      parameters: { log: "$response.body#/logs/0" },
    })),
  },
  showHealth: {
    200: [
      { operationId: "createLog", requestBody: { preferred_region: "$response.body#/region" } },
      { operationId: "setRegionState", parameters: { region: "$response.body#/region" } },
    ],
  },
  describeLog: { 200: [ofLog("showOwner"), ofLog("listSegments")] },
  appendRecords: {
    200: [
      ofLog("readRecords", { parameters: { seq_num: "$response.body#/start/seq_num" } }),
      ofLog("trimLog", { requestBody: { seq_num: "$response.body#/start/seq_num" } }),
      ofLog("appendRecords", { requestBody: { records: record, match_seq_num: "$response.body#/end" } }),
      ofLog("listSegments"),
      ofLog("showOwner"),
    ],
  },
  readRecords: {
    200: [ofLog("readRecords", { parameters: { seq_num: "$response.body#/next" } })],
  },
  listSegments: { 200: [ledger("showLedger"), ledger("recoverLedger")] },
  sealLog: { 200: [ofLog("readTail"), ofLog("readRecords")] },
  deleteLog: { 202: [ofLog("deleteLog")] },
  listRegions: {
    200: [
      {
        operationId: "createLog",
        requestBody: { preferred_region: "$response.body#/regions/0/region" },
      },
      {
        operationId: "setRegionState",
        parameters: { region: "$response.body#/regions/0/region" },
        requestBody: { state: "accepting" },
      },
      {
        operationId: "setBookieState",
        parameters: {
          region: "$response.body#/regions/0/region",
          bookie: "$response.body#/regions/0/bookies/0/bookie",
        },
        requestBody: { state: "writable" },
      },
    ],
  },
};
