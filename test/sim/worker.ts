/** A worker process: runs one seed or one mutant after the other, as asked. */
import { allMutants } from "./mutants/all-mutants.ts";
import { caughtByTest } from "./mutants/failing-test.ts";
import { firstCatch } from "./mutants/first-catch.ts";
import type { Catch } from "./mutants/mutant.ts";
import { testedMutants } from "./mutants/tested-mutants.ts";
import { drawPlan } from "./profiles/all-profiles.ts";
import { reduced } from "./reduction.ts";
import { runPlan } from "./run-plan.ts";
import type { Job, JobDone } from "./workers.ts";

// The asking process is gone, and with it everybody who would hear the answer.
process.on("disconnect", () => process.exit(1));

process.on("message", async (job: Job) => {
  const done = await run(job);
  const { user, system } = process.cpuUsage();
  process.send?.({ ...done, cpuSeconds: (user + system) / 1e6 });
});

async function run(job: Job): Promise<Omit<JobDone, "cpuSeconds">> {
  try {
    if (job.kind === "mutant") return { caught: await caught(job.name) };
    const reduction = {
      ...job.reduction,
      operationsMax: job.reduction.operationsMax ?? Number.POSITIVE_INFINITY,
    };
    const { violation, counts } = await runPlan(reduced(drawPlan(job.profile, job.seed), reduction));
    return { violation, counts: { ...counts, faults: [...counts.faults] } };
  } catch (error) {
    const failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { failure: `${JSON.stringify(job)}: ${failure}` };
  }
}

async function caught(name: string): Promise<Catch | undefined> {
  const tested = testedMutants.find((one) => one.name === name);
  if (tested !== undefined) return await caughtByTest(tested);
  const mutant = allMutants.find((one) => one.name === name);
  return mutant === undefined ? undefined : await firstCatch(mutant);
}
