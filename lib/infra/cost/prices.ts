/**
 * What AWS charges in us-east-1, in US dollars: its bulk price files of 2026-08-31. Other regions charge up
 * to a half more; Tokyo sends to other regions at four times the price.
 */
export const prices = {
  date: "2026-08-31",
  region: "us-east-1",
  /** Each million requests. */
  restApiRequest: 3.5,
  lambdaRequest: 0.2,
  s3Put: 5,
  s3Get: 0.4,
  /** One KB written to a table of one region. */
  tableWrite: 0.625,
  /** Four KB read consistently. */
  tableRead: 0.125,
  /** Each GB-second, on arm64. */
  lambdaGbSecond: 0.0000133334,
  /** Each GB between regions. */
  regionTransferGb: 0.02,
} as const;
