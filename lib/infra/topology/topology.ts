/** The topology file: what is deployed where, as one schema and the types that follow from it. */
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { isOrigin } from "../../api/origins.ts";
import { responseTransfers, storageClasses } from "../../environment.ts";
import { storageClassRefusal } from "./storage-class.ts";

/** CloudWatch keeps logs for one of these numbers of days. */
const retentionDays = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 3653];
const regionName = z.string().regex(/^[a-z]{2}-(gov-)?[a-z]+-\d$/, "is no AWS region, such as us-east-1");

/** An identity that no bookie has had before, for the operator who adds one. */
function newStorage(): string {
  const fresh = Array.from(randomBytes(8), (byte) => (byte % 32).toString(32)).join("");
  return (
    'is the identity of a bucket that is made for this bookie alone; take a new one: "storage": ' +
    `"${fresh}"`
  );
}

const bookie = z.strictObject({
  /** Its function carries it, and its id. */
  name: z.string().regex(/^[a-z][a-z0-9]{0,5}$/, "is 1 to 6 lower-case letters and digits, such as b1"),
  /** The id of an availability zone: the failure domain inside the region. */
  rack: z.string().regex(/^[a-z]{3,6}\d-az\d{1,2}$/, "is an availability zone id, such as use1-az4"),
  /**
   * Identity of its bucket, part of the bucket's name and of the bookie's id. Another bucket is another
   * bookie: this value is never used twice in a deployment (rule 21).
   */
  storage: z.string({ error: newStorage }).regex(/^[a-z0-9]{8}$/, { error: newStorage }),
});

const size = z.number().int().min(1).max(60);

const preset = z.union([
  z.enum(["standard", "economy", "resilient", "single-region"]),
  z.strictObject({ ensembleSize: size, writeQuorum: size, ackQuorum: size, minRegions: size }),
]);

export const topologySchema = z.strictObject({
  format: z.literal(1),
  /** What every name begins with; another prefix is another deployment. */
  namePrefix: z
    .string()
    .regex(/^[a-z][a-z0-9-]{1,14}[a-z0-9]$/, "is 3 to 16 lower-case letters, digits and hyphens"),
  metadata: z.discriminatedUnion("mode", [
    z.strictObject({
      mode: z.literal("strong"),
      replicas: z.array(regionName),
      witness: regionName.optional(),
    }),
    z.strictObject({
      mode: z.literal("home"),
      home: regionName,
      /** Other regions with a copy for reads that may be stale. */
      replicas: z.array(regionName).default([]),
    }),
  ]),
  regions: z.array(z.strictObject({ name: regionName, bookies: z.array(bookie).min(1) })).min(1),
  /** S3's name for how entries are kept. */
  storageClass: z.enum(storageClasses, { error: ({ input }) => storageClassRefusal(input) }),
  /** How API Gateway takes the answers to reads. `stream`: also those of more than 6 MB. */
  reads: z.enum(responseTransfers).default("buffered"),
  /** Origins of pages that may send requests, with AWS credentials like any other caller; none by default. */
  allowedOrigins: z
    .array(z.string().refine(isOrigin, "is no origin as browsers write it, such as https://app.example"))
    .max(10)
    .default([]),
  /**
   * A table that metadata was restored to, and where it is. While it is named `read` reads it and nobody
   * writes: the append and auditor functions are given no concurrency.
   */
  restored: z
    .strictObject({
      table: z.string().regex(/^[\w.-]{3,255}$/, "is the name of a DynamoDB table"),
      region: regionName,
    })
    .optional(),
  /** Quorum sizes that the topology must admit; a log whose creator chooses none gets the first. */
  presets: z.array(preset).min(1),
  /** How long the functions' own logs are kept. */
  retentionDays: z
    .number()
    .refine((days) => retentionDays.includes(days), `is one of ${retentionDays.join(", ")}`),
  logLevel: z.enum(["debug", "info", "warn", "error"]),
});

export type Topology = z.infer<typeof topologySchema>;
export type TopologyRegion = Topology["regions"][number];
export type TopologyBookie = TopologyRegion["bookies"][number];
export type TopologyPreset = Topology["presets"][number];
