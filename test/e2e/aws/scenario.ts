/**
 * What a deployment is put through, over its REST APIs: append, read elsewhere, forward, fence, refuse, a
 * large file, one region more, and the loss of an owner.
 */
import { createHash } from "node:crypto";
import { DeleteFunctionCommand, LambdaClient } from "@aws-sdk/client-lambda";
import type { LogRecordJson } from "../../../lib/api/wire.ts";
import { chainCredentials } from "../../../lib/client/aws/credential-chain.ts";
import { signedSend } from "../../../lib/client/aws/signed-send.ts";
import type { SendHttp } from "../../../lib/client/http-words.ts";
import { OrderedAppend } from "../../../lib/client/ordered-append.ts";
import { type Patience, retrying } from "../../../lib/client/retry.ts";
import type { DeployedCloud } from "./deployed-cloud.ts";
import { LoadOf } from "./load.ts";

const MIB = 1 << 20;
const patience: Patience = { patienceMs: 60_000 };

export function check(holds: boolean, what: string, seen?: unknown): void {
  if (holds) return;
  throw new Error(`failed: ${what}${seen === undefined ? "" : `; seen: ${JSON.stringify(seen)}`}`);
}

export async function step(what: string, run: () => Promise<void>): Promise<void> {
  const beganMs = performance.now();
  await run();
  process.stdout.write(`ok ${what}, ${((performance.now() - beganMs) / 1_000).toFixed(1)} s\n`);
}

const FENCES = 2;
const UNDER_LOAD: Patience = { patienceMs: 240_000 };

export class Scenario {
  /** What was acknowledged of the log, in order. */
  readonly #acknowledged: string[] = [];

  constructor(
    private readonly cloud: DeployedCloud,
    private readonly log: string,
  ) {}

  async create(region: string): Promise<void> {
    const client = this.cloud.client(region);
    const { created } = await retrying(patience, client, (one) => one.createLog(this.log, {}));
    check(created, `${this.log} is new`);
    const again = await this.cloud.client(region).createLog(this.log, {});
    check(!again.created, "the same creation twice creates once");
  }

  /** One batch through `region`; the region that owns the log then. */
  async append(region: string, bodies: readonly string[]): Promise<string> {
    const client = this.cloud.client(region);
    const at = this.#acknowledged.length;
    // An emulator on a busy machine is slower than a bookie may be: what is in doubt is looked for.
    const ordered = new OrderedAppend({
      ...patience,
      client,
      log: this.log,
      mode: "exclusive",
      at,
    });
    const outcome = await ordered.append(bodies.map((body) => Buffer.from(body)));
    if (outcome.kind === "appended") {
      check(outcome.ack.start.seq_num === at, `the batch is at ${at}`, outcome);
      check((outcome.ack.durable_in ?? []).length >= 2, "an acknowledged batch is in two regions", outcome);
    }
    this.#acknowledged.push(...bodies);
    const { segments } = await retrying(patience, client, (one) => one.segments(this.log));
    return segments.at(-1)?.owner ?? "nobody";
  }

  /** Everything acknowledged, from `region`, strongly. */
  async readAll(region: string): Promise<void> {
    const found: LogRecordJson[] = [];
    for (;;) {
      const client = this.cloud.client(region);
      const page = await retrying(patience, client, (one) =>
        one.read(this.log, { from: found.length, format: "utf8" }),
      );
      found.push(...page.records);
      if (page.records.length === 0) {
        check(page.up_to_date, "a strong read to the end is up to date", page);
        break;
      }
    }
    const bodies = found.map(({ body }) => body);
    check(
      JSON.stringify(bodies) === JSON.stringify(this.#acknowledged),
      `${region} reads what was acknowledged`,
      { read: bodies.length, acknowledged: this.#acknowledged.length },
    );
  }

  /**
   * Recovers the writer's open ledger from elsewhere, again and again, while its appends are under way; it
   * goes on in new segments, and each append is there once.
   */
  async fence(from: string, writer: string): Promise<void> {
    const client = this.cloud.client(from);
    const load = new LoadOf(this.cloud.client(writer), this.log);
    let inFlight = 0;
    let segments = (await retrying(patience, client, (one) => one.segments(this.log))).segments;
    for (let fences = 0; fences < FENCES; fences++) {
      await load.acknowledged(2);
      segments = (await retrying(patience, client, (one) => one.segments(this.log))).segments;
      const open = segments.at(-1);
      check(open !== undefined, "there is an open segment", segments);
      inFlight += load.inFlight;
      const id = String(open?.ledger_id);
      const closed = await retrying(UNDER_LOAD, client, (one) => one.recoverLedger(id));
      check(closed.state === "CLOSED", "the fenced ledger is closed", closed);
    }
    await load.acknowledged(2);
    const bodies = await load.end(this.#acknowledged.length);
    this.#acknowledged.push(...bodies);
    check(inFlight >= FENCES, "appends were under way at each fence", inFlight);
    const after = await retrying(patience, client, (one) => one.segments(this.log));
    check(after.segments.length > segments.length, "the writer goes on in a new segment", after);
    process.stdout.write(
      `   ${FENCES} fences, ${inFlight} appends under way at them, ${bodies.length} in all\n`,
    );
  }

  /**
   * Has `region` own the log. On a busy machine an owner may have been silent for so long that a strong read
   * elsewhere took over.
   */
  async settleIn(region: string): Promise<void> {
    const client = this.cloud.client(region);
    const { owner } = await retrying(UNDER_LOAD, client, (one) => one.transferOwner(this.log, region));
    check(owner === region, `${region} owns the log`, owner);
  }

  /** The region's functions, invoked by a caller who may. */
  async goAroundGateway(region: string): Promise<void> {
    const client = await this.cloud.directClient(region);
    const body = "without the gateway";
    const batch = { records: [{ body }], match_seq_num: this.#acknowledged.length };
    await retrying(patience, client, (one) => one.append(this.log, batch, "utf8"));
    this.#acknowledged.push(body);
    const tail = await retrying(patience, client, (one) => one.tail(this.log));
    check(tail.tail === this.#acknowledged.length, "the tail is behind what was appended", tail);
  }

  /** A topology without a region that holds copies changes nothing at all. */
  async refuseToDrop(names: readonly string[]): Promise<void> {
    const said = await this.cloud.deploy(names).then(() => "deployed", String);
    check(said.includes("no longer names"), "the deployment is refused by the guard", said.slice(-2_000));
  }

  /** Unsigned, or signed with a key that nobody has: refused before a function runs. */
  async refuseStrangers(region: string, isEnforced: boolean): Promise<void> {
    const { endpoint } = this.cloud.region(region);
    const url = `${endpoint}/v1/logs/${this.log}/records`;
    const read = await fetch(url);
    check(read.status === 403, "an unsigned read is refused with 403", read.status);
    const write = await fetch(url, { ...this.#anAppend, method: "POST" });
    check(write.status === 403, "an unsigned append is refused with 403", write.status);
    const credentials = async () => ({ accessKeyId: "AKIANOBODYKNOWSIT", secretAccessKey: "guessed" });
    const signed = await this.#send(signedSend({ region, credentials }), url);
    check(!isEnforced || signed.status === 403, "a key that nobody has is refused with 403", signed.status);
  }

  /** Where the log is not owned: sent to the owner by itself, refused for a caller who would rather know. */
  async refuseInWrongRegion(region: string, owner: string, signedFor: string): Promise<void> {
    const { endpoint } = this.cloud.region(region);
    const url = `${endpoint}/v1/logs/${this.log}/records`;
    const answer = await this.#send(signedSend({ region, credentials: chainCredentials(region) }), url);
    check(answer.status === 421, "an append that may not be forwarded is refused with 421", answer.status);
    const named = answer.headers.get("log-owner") ?? "";
    check(named.startsWith(owner), `the refusal names the owner ${owner}`, named);
    const elsewhere = signedSend({ region: signedFor, credentials: chainCredentials(signedFor) });
    const { status } = await this.#send(elsewhere, url);
    if (status === 403) return;
    process.stdout.write(
      `   NOT TESTED: that a signature for ${signedFor} is refused in ${region}. This emulator does not look ` +
        "at a signature's region; AWS does, and the client of another region refuses to send it there\n",
    );
  }

  readonly #anAppend = {
    headers: { "content-type": "application/json", prefer: "no-forward" },
    // Should it get through, it is at a place that the log has not reached.
    body: JSON.stringify({ records: [{ body: "never" }], match_seq_num: 1_000_000 }),
  };

  /** Again after a broken connection, which is no answer; the append can be sent as often as one likes. */
  async #send(send: SendHttp, url: string): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      try {
        const signal = AbortSignal.timeout(60_000);
        return await send(url, { ...this.#anAppend, method: "POST", signal });
      } catch (error) {
        if (attempt === 3) throw error;
      }
    }
  }

  /** The owner's append function is gone: another region takes over and loses nothing. */
  async takeOver(owner: string, from: string): Promise<void> {
    const { append } = this.cloud.region(owner).functions;
    await new LambdaClient({ region: owner }).send(new DeleteFunctionCommand({ FunctionName: append }));
    const now = await this.append(from, ["after the takeover"]);
    check(now !== owner, `${owner} no longer owns the log`, now);
  }
}

/** `megabytes` of text in through one region, out through another, with the same SHA-256. */
export async function largeFile(
  cloud: DeployedCloud,
  { into, outOf, megabytes }: { into: string; outOf: string; megabytes: number },
): Promise<void> {
  const log = "large";
  const client = cloud.client(into);
  await retrying(patience, client, (one) => one.createLog(log, {}));
  const append = new OrderedAppend({ ...patience, client, log, mode: "exclusive", at: 0 });
  const sent = createHash("sha256");
  for (let batch = 0; batch < megabytes; batch++) {
    const records = Array.from({ length: 16 }, (_, index) => blockOf(batch * 16 + index));
    for (const record of records) sent.update(record);
    await append.append(records);
  }
  const received = createHash("sha256");
  let next = 0;
  const reader = cloud.client(outOf);
  while (next < append.next) {
    const page = await retrying(patience, reader, (one) => one.read(log, { from: next, format: "utf8" }));
    for (const { body } of page.records) received.update(body);
    check(page.records.length > 0, `${outOf} reads on from ${next}`, page);
    next += page.records.length;
  }
  const [wanted, found] = [sent.digest("hex"), received.digest("hex")];
  check(found === wanted, "the file came back the same", { wanted, found });
  process.stdout.write(`   ${megabytes} MB, SHA-256 ${found}\n`);
}

/** A little under a sixteenth of a batch's limit: headers and framing are metered, too. No two are alike. */
function blockOf(ordinal: number): Uint8Array {
  const line = createHash("sha256").update(String(ordinal)).digest("hex");
  return Buffer.from(line.repeat(Math.floor((MIB / 16 - 64) / line.length)), "utf8");
}
