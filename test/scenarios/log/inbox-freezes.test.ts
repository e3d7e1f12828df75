/**
 * A process that serves a log's inbox, or posts to it, freezes at any of its calls, or loses any reply. What is
 * acknowledged is recorded once; what is said not to be recorded never is; every caller is answered.
 */
import { describe, expect, test } from "vitest";
import { keySender } from "../../../lib/api/append-sender.ts";
import { unavailable } from "../../../lib/protocol/errors.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { EXHAUSTIVE } from "../../cpu-bound.ts";
import { freezeAt } from "../freeze.ts";
import { LOG, LogWorld, recordOf, told } from "./log-world.ts";

/** Every call but the looks that find nothing: those come by the thousand. */
const CALLS = [
  { port: "lease" },
  { port: "metadata" },
  { port: "bookie" },
  { port: "inbox", call: "post" },
  { port: "inbox", call: "answer" },
  { port: "inbox", call: "readAnswer", about: "consistent" },
] as const;
const TIMES = { lifeMs: 60_000, idleMs: 5_000 };

interface Outcome {
  readonly text: string;
  readonly answer: string;
}

/** R serves, P and Q post, and something goes wrong; then S appends. What each was answered, and the log. */
async function story(spoil: (w: LogWorld) => { after: () => void }) {
  const w = await LogWorld.make({ leases: true, inbox: true });
  const { after } = spoil(w);
  const resident = w.client("R");
  const serving = resident.appends.serveInbox(LOG, TIMES).catch(() => "failed");
  await w.world.clock.advance(100);
  const outcomes: Outcome[] = [];
  const send = async (name: string, text: string, key?: string) => {
    const client = w.client(name);
    const sender = key === undefined ? {} : { sender: keySender(key) };
    const sent = client.appends.append({ log: LOG, records: [recordOf(text)], ...sender });
    const answer = await told(sent);
    outcomes.push({ text, answer });
    await client.appends.release();
  };
  const sending = [send("P", "x"), send("Q", "y", "key")];
  await w.world.clock.advance(40);
  sending.push(send("P2", "z"));
  await w.world.clock.advance(limits.appendDeadlineMs + 1_000);
  sending.push(send("S", "s"));
  await w.world.clock.advance(limits.appendDeadlineMs + 1_000);
  after();
  await w.world.clock.advance(limits.appendDeadlineMs + TIMES.idleMs + 10_000);
  await w.run(Promise.all(sending));
  await w.run(serving);
  const log = await w.client("T", "west").read(0);
  return { w, outcomes, log };
}

function judge({ outcomes, log }: { outcomes: readonly Outcome[]; log: readonly string[] }): string[] {
  return outcomes.flatMap(({ text, answer }) => {
    const times = log.filter((one) => one === text).length;
    const isAcked = answer.startsWith("at ");
    const place = isAcked ? Number(answer.slice(3)) : undefined;
    if (times > 1) return [`${text} is recorded ${times} times (${answer})`];
    if (isAcked && (times !== 1 || log[place as number] !== text)) return [`${text} is not ${answer}`];
    if (answer.endsWith("side effects none") && times > 0) return [`${text} is recorded: ${answer}`];
    return [];
  });
}

describe.each(["R", "P", "Q"])("%s", (client) => {
  test.each(["before", "after"] as const)("freezes %s any call", EXHAUSTIVE, async (moment) => {
    const seen = new Set<string>();
    for (let at = 0; at < 120; at++) {
      let isFrozen = () => false;
      const result = await story((w) => {
        const calls = CALLS.map((call) => ({ client, ...call }));
        const frozen = freezeAt(w.faults, calls, moment, at);
        isFrozen = frozen.isFrozen;
        return { after: frozen.thaw };
      });
      expect(judge(result), `frozen ${moment} call ${at}`).toEqual([]);
      for (const { text, answer } of result.outcomes) seen.add(`${text} ${answer.replace(/\d+/, "N")}`);
      if (!isFrozen()) break;
    }
    expect([...seen].sort()).toContain("s at N");
  });

  test.each(["before", "after"] as const)("loses any call %s its effect", EXHAUSTIVE, async (moment) => {
    for (let at = 0; at < 120; at++) {
      let count = 0;
      const result = await story((w) => {
        for (const call of CALLS) {
          w.faults.at({ client, ...call }, moment, Number.POSITIVE_INFINITY, () => {
            if (count++ === at) throw unavailable("lost");
          });
        }
        return { after: () => {} };
      });
      expect(judge(result), `lost ${moment} call ${at}`).toEqual([]);
      if (count <= at) break;
    }
  });
});
