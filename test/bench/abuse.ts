/**
 * `npm run bench -- abuse [SECONDS]`: a cloud of its own under clients that cut off their uploads, send bodies
 * that are made to cost much, give up reads of 1 MiB, and hold what they can, all at once and from a process
 * of their own. Beside them a sender appends 20 times a second, and health is asked for. Fails unless nearly
 * all of its appends succeed at once and all in the end, once and in order, in little memory, and health
 * answers soon.
 */
import { execFileSync, spawn } from "node:child_process";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ScratchDirectory } from "../adapters/scratch-directory.ts";
import { CloudProcess } from "../local/cloud-process.ts";

const SECONDS = 10;
const gates = { atOncePercent: 95, rssMb: 600, healthP99Ms: 250 };

async function measure(seconds: number): Promise<void> {
  await using scratch = await ScratchDirectory.make();
  await using cloud = await CloudProcess.start(join(scratch.path, "data"));
  const url = cloud.url("us-east-1");
  for (const log of ["good", "big", "bad"]) await fetch(`${url}/v1/logs/${log}`, { method: "PUT" });
  for (let batch = 0; batch < 4; batch++) {
    const answer = await append(url, "big", "x".repeat(1_000_000), `big-${batch}`);
    if (answer !== 200) throw new Error(`the log of large records: ${answer}`);
  }
  const args = ["--import", "tsx", fileURLToPath(import.meta.url), "attack", url, String(seconds)];
  const attackers = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
  let isOver = false;
  let attacked: number | null = null;
  attackers.once("exit", (code) => {
    attacked = code;
    isOver = true;
  });
  const healthMs: number[] = [];
  let rssMb = 0;
  const watching = (async () => {
    while (!isOver) {
      const startedMs = performance.now();
      const answer = await fetch(`${url}/v1/health`);
      await answer.arrayBuffer();
      healthMs.push(answer.ok ? performance.now() - startedMs : Number.POSITIVE_INFINITY);
      rssMb = Math.max(rssMb, rssMbOf(cloud.pid));
      await sleep(50);
    }
  })();
  const { sent, atOnce, refusals } = await send(url, () => isOver);
  await watching;
  const found = await cloud.client("us-east-1").read("good", { from: 0 });
  const bodies = found.records.map((record) => record.body);
  while (bodies.length < sent.length) {
    const { records } = await cloud.client("us-east-1").read("good", { from: bodies.length });
    if (records.length === 0) break;
    bodies.push(...records.map((record) => record.body));
  }
  healthMs.sort((one, other) => one - other);
  const figures = {
    seconds,
    appends: sent.length,
    atOncePercent: Math.round((1_000 * atOnce) / sent.length) / 10,
    onceAndInOrder: JSON.stringify(bodies) === JSON.stringify(sent),
    rssMb: Math.round(rssMb),
    healthAsked: healthMs.length,
    healthP99Ms: Math.round(healthMs[Math.floor(healthMs.length * 0.99)] ?? Number.POSITIVE_INFINITY),
    refusals,
  };
  process.stdout.write(`${JSON.stringify(figures, undefined, 2)}\n`);
  const holds =
    figures.atOncePercent >= gates.atOncePercent &&
    attacked === 0 &&
    figures.onceAndInOrder &&
    figures.rssMb < gates.rssMb &&
    figures.healthP99Ms < gates.healthP99Ms;
  if (holds) return;
  process.stdout.write(`not within ${JSON.stringify(gates)}, or not once and in order\n`);
  process.exitCode = 1;
}

/** 20 a second, one after another, each repeated with its key until it succeeds. */
async function send(url: string, isOver: () => boolean) {
  const sent: string[] = [];
  const refusals: Record<string, number> = {};
  let atOnce = 0;
  const startedMs = performance.now();
  while (!isOver()) {
    const body = `record ${sent.length}`;
    for (let attempt = 1; ; attempt++) {
      const status = await append(url, "good", body, `good-${sent.length}`).catch(() => "no answer" as const);
      if (status === 200) {
        if (attempt === 1) atOnce += 1;
        break;
      }
      refusals[status] = (refusals[status] ?? 0) + 1;
      await sleep(200);
    }
    sent.push(body);
    await sleep(Math.max(0, startedMs + sent.length * 50 - performance.now()));
  }
  return { sent, atOnce, refusals };
}

async function append(url: string, log: string, body: string, key: string): Promise<number> {
  const headers = { "content-type": "application/octet-stream", "idempotency-key": key };
  const answer = await fetch(`${url}/v1/logs/${log}/records`, { method: "POST", headers, body });
  await answer.arrayBuffer();
  return answer.status;
}

function rssMbOf(pid: number): number {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) / 1_024;
}

// ---------- The others

async function attack(url: string, seconds: number): Promise<void> {
  const untilMs = performance.now() + seconds * 1_000;
  const held = [...hold(url, 200, ""), ...hold(url, 50, headOf("Content-Length: 8000000"))];
  const trickle = setInterval(() => {
    for (const socket of held) if (socket.bytesWritten > 0 && socket.writable) socket.write("x");
  }, 500);
  const every = async (ms: number, act: (turn: number) => unknown) => {
    for (let turn = 0; performance.now() < untilMs; turn++) {
      act(turn);
      await sleep(ms);
    }
  };
  const deep = `{"records":${"[".repeat(4_200)}${"]".repeat(4_200)}}`;
  const wrong = `{"records":[${"1,".repeat(124_000)}1]}`;
  const huge = `{"records":[${"1,".repeat(4_000_000)}1]}`;
  const keys = JSON.stringify(Object.fromEntries(Array.from({ length: 500_000 }, (_, n) => [`k${n}`, 1])));
  await Promise.all([
    every(65, (turn) => cutOff(url, turn)),
    every(65, (turn) => post(url, turn % 2 === 0 ? deep : wrong)),
    every(2_000, (turn) => post(url, turn % 2 === 0 ? huge : keys)),
    every(33, () => giveUp(`${url}/v1/logs/big/records?seq_num=0&bytes=1048576`)),
  ]);
  clearInterval(trickle);
  for (const socket of held) socket.destroy();
  process.stdout.write(`what the others did, and got: ${JSON.stringify(Object.fromEntries(tally))}\n`);
  process.exit(0);
}

const tally = new Map<string, number>();
const count = (what: string) => tally.set(what, (tally.get(what) ?? 0) + 1);

const headOf = (more: string) =>
  `POST /v1/logs/bad/records HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${more}\r\n\r\n`;

function opened(url: string, bytes: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.on("data", () => {});
  if (bytes !== "") socket.write(bytes);
  return socket;
}

function hold(url: string, count: number, bytes: string): Socket[] {
  return Array.from({ length: count }, () => opened(url, bytes));
}

function cutOff(url: string, turn: number): void {
  count("uploads cut off");
  const socket = opened(url, `${headOf("Content-Length: 1000000")}{"records":[`);
  setTimeout(() => (turn % 2 === 0 ? socket.resetAndDestroy() : socket.destroy()), 5);
}

async function post(url: string, body: string): Promise<void> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${url}/v1/logs/bad/records`, { method: "POST", headers, body }).catch(() => {});
  await answer?.arrayBuffer().catch(() => {});
  count(`bad bodies: ${answer?.status ?? "no answer"}`);
}

async function giveUp(url: string): Promise<void> {
  await fetch(url, { signal: AbortSignal.timeout(20) })
    .then(async (answer) => {
      await answer.arrayBuffer();
      count(`reads: ${answer.status}`);
    })
    .catch(() => count("reads given up"));
}

const [, , first, second] = process.argv;
if (first === "attack") await attack(String(second), Number(process.argv[4]));
else await measure(Number(first ?? SECONDS));
