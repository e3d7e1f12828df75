import type { RegionSettings } from "../../lib/environment.ts";

/** What the functions of a deployment in one region with one bookie get. */
export const oneRegion: RegionSettings = {
  deployment: "glog",
  logLevel: "ERROR",
  regions: [{ region: "us-east-1", appendFunction: "glog-append" }],
  bookies: [{ id: "us-east-1.b1~s1", region: "us-east-1", rack: "a", functionName: "glog-bookie-b1" }],
  metadata: { table: "glog-metadata", mode: "home", homeRegion: "us-east-1", replicas: ["us-east-1"] },
  leaseTable: "glog-leases",
  inboxTable: "glog-inbox",
  defaultReplication: { ensembleSize: 1, writeQuorum: 1, ackQuorum: 1, minRegions: 1 },
  reads: "buffered",
  allowedOrigins: [],
};
