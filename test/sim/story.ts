/** Prints a failing run for a person: how to see it again, what was wrong, and the last events that led there. */
import type { Fault } from "./faults.ts";
import type { Plan } from "./plan.ts";
import { type Found, type Reduction, reduced } from "./reduction.ts";
import { runPlan } from "./run-plan.ts";

const EVENTS_MAX = 60;
const LINE_MAX = 220;

/** The one line that runs it again. */
export function reproduction(plan: Plan, reduction: Reduction): string {
  const without = reduction.without.length === 0 ? "" : ` --without ${reduction.without.join(",")}`;
  const most = Number.isFinite(reduction.operationsMax) ? ` --operations ${reduction.operationsMax}` : "";
  return `npm run sim -- --profile ${plan.profile} --seed ${plan.seed}${without}${most}`;
}

export async function story(plan: Plan, reduction: Found): Promise<string> {
  const small = reduced(plan, reduction);
  const { violation, lines } = await runPlan(small, { trace: true });
  const { world } = small;
  const { ensembleSize, writeQuorum, ackQuorum, minRegions } = world.replication;
  const subject = violation?.subject ?? "";
  const events = lines.filter((line) => line.includes(subject)).slice(-EVENTS_MAX);
  return [
    `violation of ${violation?.checker}: ${subject} ${violation?.what}`,
    `  again: ${reproduction(plan, reduction)}${stopTold(reduction)}`,
    `  world: E ${ensembleSize} Qw ${writeQuorum} Qa ${ackQuorum} minRegions ${minRegions}, placement ${world.placement}`,
    `         ${world.bookies.map(({ name, region }) => `${region}.${name}`).join(" ")}`,
    `  actors: ${small.actors.map(({ name, region }) => `${name} (${region})`).join(", ")}`,
    ...(small.functions ?? []).map((one) => `  function: ${JSON.stringify(one)}`),
    ...small.faults.map((fault) => `  fault: ${faultTold(fault)}`),
    `  the last ${events.length} events${subject === "" ? "" : ` of ${subject}`}, times in virtual ms:`,
    ...events.map((line) => `  ${line.length > LINE_MAX ? `${line.slice(0, LINE_MAX)}...` : line}`),
  ].join("\n");
}

/** Behind the command, as the shell's own comment. */
export function stopTold({ stoppedAfter }: Found): string {
  if (stoppedAfter === undefined) return "";
  const { runs, events } = stoppedAfter;
  return `  # reducing it stopped early, after ${runs} runs of ${events} events in all; less may do`;
}

function faultTold(fault: Fault): string {
  const when = `from ${Math.round(fault.fromMs)} to ${Math.round(fault.toMs)} ms`;
  if (!("wire" in fault)) return `${fault.kind} ${fault.target} ${when}`;
  const end = (one: typeof fault.from) => (one === "*" ? "any" : "region" in one ? one.region : one.name);
  return `${fault.wire} ${fault.kind} ${end(fault.from)} -> ${end(fault.to)}, p ${fault.probability.toFixed(3)}, ${when}`;
}
