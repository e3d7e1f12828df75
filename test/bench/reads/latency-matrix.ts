/**
 * Every latency of a run, drawn before the run: replica by replica, read by read. All policies meet the same
 * luck (common random numbers), so their differences are theirs alone.
 */
import { SeededRandom } from "../../sim/seeded-random.ts";
import { type BenchRegion, normalDeviate, roundTripMs, s3ReadMs } from "./latency-model.ts";

export interface ReplicaPlace {
  readonly region: BenchRegion;
  readonly rack: string;
}

export interface Layout {
  readonly reader: BenchRegion;
  readonly replicas: readonly ReplicaPlace[];
}

/** The layout of the gates: three racks near by and one far region. */
export const fixedLayout: Layout = {
  reader: "us-east-1",
  replicas: [
    { region: "us-east-1", rack: "a" },
    { region: "us-east-1", rack: "b" },
    { region: "us-east-1", rack: "c" },
    { region: "us-west-2", rack: "a" },
  ],
};

export interface LatencyMatrix {
  readonly layout: Layout;
  readonly reads: number;
  /** When each read begins, in ms. */
  readonly arrivalMs: Float64Array;
  /** Latency of each read at each replica in ms; infinite where none answers. */
  readonly latencyMs: readonly Float64Array[];
  /** Which of the nearest replicas a policy without knowledge asks first and second. */
  readonly firstChoice: Uint8Array;
  readonly secondChoice: Uint8Array;
  /** A uniform number for each read, for policies that draw lots. */
  readonly lot: Float64Array;
}

export interface MatrixPlan {
  readonly layout: Layout;
  readonly reads: number;
  readonly readsPerSecond: number;
  readonly seed: number;
}

export function drawMatrix({ layout, reads, readsPerSecond, seed }: MatrixPlan): LatencyMatrix {
  const arrivals = new SeededRandom(seed, "arrivals");
  const arrivalMs = new Float64Array(reads);
  let nowMs = 0;
  for (let read = 0; read < reads; read++) {
    nowMs += (-Math.log(1 - arrivals.unit()) * 1_000) / readsPerSecond;
    arrivalMs[read] = nowMs;
  }
  const latencyMs = layout.replicas.map(({ region }, replica) => {
    const random = new SeededRandom(seed, `replica ${replica}`);
    const travelMs = roundTripMs(layout.reader, region);
    return Float64Array.from({ length: reads }, () => travelMs + s3ReadMs(normalDeviate(random)));
  });
  const nearest = nearestReplicas(layout);
  const choices = new SeededRandom(seed, "choices");
  const firstChoice = new Uint8Array(reads);
  const secondChoice = new Uint8Array(reads);
  for (let read = 0; read < reads; read++) {
    const [first = 0, second = 0] = choices.shuffled(nearest);
    firstChoice[read] = first;
    secondChoice[read] = nearest.length > 1 ? second : nextNearest(layout, first);
  }
  const lots = new SeededRandom(seed, "lots");
  const lot = Float64Array.from({ length: reads }, () => lots.unit());
  return { layout, reads, arrivalMs, latencyMs, firstChoice, secondChoice, lot };
}

/** The same reads with other latencies: `change` is given read, replica and the latency that was drawn. */
export function withFault(
  matrix: LatencyMatrix,
  change: (read: number, replica: number, latencyMs: number) => number,
): LatencyMatrix {
  const latencyMs = matrix.latencyMs.map((drawn, replica) =>
    drawn.map((latency, read) => change(read, replica, latency)),
  );
  return { ...matrix, latencyMs };
}

export function nearestReplicas(layout: Layout): number[] {
  const travel = layout.replicas.map(({ region }) => roundTripMs(layout.reader, region));
  const least = Math.min(...travel);
  return travel.flatMap((ms, replica) => (ms === least ? [replica] : []));
}

function nextNearest(layout: Layout, first: number): number {
  const others = layout.replicas.map((_, replica) => replica).filter((replica) => replica !== first);
  const travel = (replica: number) => {
    const place = layout.replicas[replica];
    return place === undefined ? 0 : roundTripMs(layout.reader, place.region);
  };
  return others.sort((one, other) => travel(one) - travel(other))[0] ?? first;
}

/** Latency of `read` at `replica`. */
export function latencyAt(matrix: LatencyMatrix, read: number, replica: number): number {
  const latency = matrix.latencyMs[replica]?.[read];
  if (latency === undefined) throw new RangeError(`no latency drawn for read ${read} at replica ${replica}`);
  return latency;
}
