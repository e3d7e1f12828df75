/**
 * Command lines as a reader types them into bash, against a cloud in this process. `npx fenceline` is a small
 * program in front of PATH that hands its arguments and input to this process and prints what the command
 * printed, since starting the command itself a hundred times takes minutes.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { ScratchDirectory } from "../adapters/scratch-directory.ts";
import { run } from "../cli/run-command.ts";
import { RunningCloud } from "../local/running-cloud.ts";

const REGIONS = ["us-east-1", "us-east-2", "us-west-2"];
const FIRST_PORT = 4701;
const documentedUrl = /http:\/\/127\.0\.0\.1:470([123])(?!\d)/g;

/** Commands that ask no region, or say themselves which. */
const withoutDefaultRegion = new Set(["local", "placement", "verify", "help"]);

/** What would take half a minute, or more of this machine than a test may. */
const shortened: Readonly<Record<string, string>> = {
  "--duration 30": "--duration 1",
  "--appenders 100": "--appenders 6",
};

const SHIM = `#!/usr/bin/env node
const { connect } = require("node:net");
const chunks = [];
process.stdin.on("data", (chunk) => chunks.push(chunk)).on("end", () => {
  const socket = connect(process.env.FENCELINE_TEST_SOCKET);
  let answer = "";
  socket.setEncoding("utf8").on("data", (piece) => { answer += piece; }).on("end", () => {
    const { code, out, err } = JSON.parse(answer);
    process.stderr.write(Buffer.from(err, "base64"));
    process.stdout.write(Buffer.from(out, "base64"));
    process.exitCode = code;
  });
  const input = Buffer.concat(chunks).toString("base64");
  socket.end(JSON.stringify({ args: process.argv.slice(2), input }));
});
`;

export interface Typed {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export class TypedCommands implements AsyncDisposable {
  private constructor(
    private readonly scratch: ScratchDirectory,
    private readonly cloud: RunningCloud,
    private readonly server: Server,
  ) {}

  static async start(): Promise<TypedCommands> {
    const scratch = await ScratchDirectory.make();
    const cloud = await RunningCloud.start();
    const shim = join(scratch.path, "npx");
    await writeFile(shim, SHIM);
    await chmod(shim, 0o755);
    const server = createServer({ allowHalfOpen: true });
    const commands = new TypedCommands(scratch, cloud, server);
    server.on("connection", (socket) => {
      let asked = "";
      socket.setEncoding("utf8").on("data", (piece) => {
        asked += piece;
      });
      socket.on("end", async () => {
        const { args, input } = JSON.parse(asked);
        socket.end(JSON.stringify(await commands.#fenceline(args, Buffer.from(input, "base64"))));
      });
    });
    server.listen(join(scratch.path, "socket"));
    await once(server, "listening");
    return commands;
  }

  /** Runs a command line; addresses and what is shortened are replaced on the way in, and addresses back. */
  async type(line: string): Promise<Typed> {
    let script = line;
    for (const [long, short] of Object.entries(shortened)) script = script.replaceAll(long, short);
    script = script.replace(documentedUrl, (_, index) => this.cloud.url(REGIONS[Number(index) - 1] ?? ""));
    const child = spawn("bash", ["-o", "pipefail", "-c", script], {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        PATH: `${this.scratch.path}${delimiter}${process.env.PATH}`,
        FENCELINE_TEST_SOCKET: join(this.scratch.path, "socket"),
      },
    });
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close"),
    ]);
    return { code: code ?? 1, out: this.#asDocumented(out), err: this.#asDocumented(err) };
  }

  async #fenceline(args: readonly string[], input: Buffer) {
    const [program, ...words] = args;
    if (program !== "fenceline") return reply(127, Buffer.alloc(0), `no npx ${program} here\n`);
    const isPlaced = words.some((word) => ["--endpoint", "--outputs"].includes(word));
    const asksFirst = !isPlaced && !withoutDefaultRegion.has(words[0] ?? "help");
    const before = asksFirst ? ["--endpoint", this.cloud.url(REGIONS[0] ?? "")] : [];
    const behind = words[0] === "local" ? ["--data", this.cloud.dataDir] : [];
    const { code, bytes, err } = await run([...before, ...words, ...behind], input);
    return reply(code, bytes, err);
  }

  #asDocumented(printed: string): string {
    const urls = REGIONS.map((name, index) => [this.cloud.url(name), index] as const);
    return printed.replace(/http:\/\/127\.0\.0\.1:\d+/g, (url) => {
      const [, index] = urls.find(([actual]) => actual === url) ?? [];
      return index === undefined ? url : `http://127.0.0.1:${FIRST_PORT + index}`;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.close();
    await this.cloud[Symbol.asyncDispose]();
    await this.scratch.remove();
  }
}

function reply(code: number, out: Buffer, err: string) {
  return { code, out: out.toString("base64"), err: Buffer.from(err).toString("base64") };
}
