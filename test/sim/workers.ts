/** Runs jobs in several processes at once; answers come in the order of the jobs. */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Catch } from "./mutants/mutant.ts";
import type { RunCounts } from "./run-counts.ts";
import type { Violation } from "./verdict.ts";

export type Job =
  | {
      readonly kind: "seed";
      readonly profile: string;
      readonly seed: number;
      /** No number for as many operations as there are: infinity does not travel. */
      readonly reduction: { readonly without: readonly string[]; readonly operationsMax: number | null };
    }
  | { readonly kind: "mutant"; readonly name: string };

export interface JobDone {
  readonly violation?: Violation | undefined;
  readonly counts?: Omit<RunCounts, "faults"> & { readonly faults: readonly (readonly [string, number])[] };
  readonly caught?: Catch | undefined;
  /** It did not run at all. */
  readonly failure?: string;
  /** What its process has used so far. */
  readonly cpuSeconds: number;
}

export interface Workers {
  /** CPU seconds that all of them used. */
  readonly cpuSeconds: number;
}

const program = fileURLToPath(new URL("./worker.ts", import.meta.url));

/**
 * `done` is called once for each job, in the order of the jobs. Rejects with what a job failed of, or if a
 * worker ends before its job.
 */
export async function runJobs(
  jobs: readonly Job[],
  processes: number,
  done: (job: Job, result: JobDone) => void | Promise<void>,
): Promise<Workers> {
  const results = new Map<number, JobDone>();
  let next = 0;
  let told = 0;
  const used: number[] = [];
  const tell = async () => {
    for (let result = results.get(told); result !== undefined; result = results.get(told)) {
      results.delete(told);
      const job = jobs[told++];
      if (job !== undefined) await done(job, result);
    }
  };
  let telling = Promise.resolve();
  const work = async (worker: number) => {
    const child = fork(program, { execArgv: process.execArgv });
    try {
      for (let index = next++; index < jobs.length; index = next++) {
        const result = await answer(child, jobs[index] as Job);
        if (result.failure !== undefined) throw new Error(result.failure);
        used[worker] = result.cpuSeconds;
        results.set(index, result);
        telling = telling.then(tell);
        await telling;
      }
    } finally {
      child.kill();
    }
  };
  await Promise.all(Array.from({ length: Math.min(processes, jobs.length) }, (_, worker) => work(worker)));
  return { cpuSeconds: used.reduce((sum, one) => sum + one, 0) };
}

function answer(child: ChildProcess, job: Job): Promise<JobDone> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) =>
      reject(new Error(`a worker ended with ${code}: ${JSON.stringify(job)}`));
    child.once("exit", ended);
    child.once("message", (result) => {
      child.off("exit", ended);
      resolve(result as JobDone);
    });
    child.send(job);
  });
}
