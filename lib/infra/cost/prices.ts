/**
 * What AWS charges in us-east-1, in US dollars: its bulk price files of 2026-08-31, but for the storage
 * classes other than STANDARD, whose prices were not checked against those files. Other regions charge up to
 * a half more; Tokyo sends to other regions at four times the price.
 */
export const prices = {
  date: "2026-08-31",
  region: "us-east-1",
  /** Each million requests. */
  restApiRequest: 3.5,
  lambdaRequest: 0.2,
  s3Put: { STANDARD: 5, INTELLIGENT_TIERING: 5, STANDARD_IA: 10 },
  /** Of the fence and the marker, which are STANDARD whatever the entries are. */
  s3Get: 0.4,
  /** Each GB and month. INTELLIGENT_TIERING: the first month; then 0.0125, and 0.004 after two more. */
  s3Gb: { STANDARD: 0.023, INTELLIGENT_TIERING: 0.023, STANDARD_IA: 0.0125 },
  /** Watching a million objects for a month, of those that may be moved. */
  s3Watched: 2.5,
  /** One KB written to a table of one region. */
  tableWrite: 0.625,
  /** Four KB read consistently. */
  tableRead: 0.125,
  /** Each GB-second, on arm64. */
  lambdaGbSecond: 0.0000133334,
  /** Each GB between regions. */
  regionTransferGb: 0.02,
} as const;
