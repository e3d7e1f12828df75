/**
 * MiniStack, an emulator of AWS that needs no Docker and runs Node functions as processes of its own.
 * Installed by pip into a virtual environment under the checkout's ignored folder, bound to loopback on a
 * free port, stopped by its process id.
 *
 *     await using emulator = await MiniStack.start();   // throws NoMiniStack if it cannot be had
 *     emulator.environment                              // for processes that talk to it: SDK, cdk, functions
 *
 * What it does not show: conflicts, lag, distance, the loss of a region, throttles. A global table exists in
 * its stack's region only, so the metadata mode is `home`.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The version that the suites were written against. */
export const MINISTACK_VERSION = "1.5.33";

const IGNORED_FOLDER = fileURLToPath(new URL("../../.fenceline", import.meta.url));
const INSTALL_TIMEOUT_MS = 180_000;
const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 5_000;

const run = promisify(execFile);

/** Python or pip is not there, or the package cannot be fetched. */
export class NoMiniStack extends Error {
  override readonly name = "NoMiniStack";
}

export interface MiniStackOptions {
  /** For its process; wins over what is set by default. */
  readonly environment?: Readonly<Record<string, string>>;
}

export class MiniStack implements AsyncDisposable {
  readonly #stopWithUs: () => void;

  private constructor(
    readonly port: number,
    private readonly child: ChildProcess,
    private readonly directory: string,
  ) {
    this.#stopWithUs = () => child.kill("SIGKILL");
    process.once("exit", this.#stopWithUs);
  }

  /** Installs it if need be, and starts one with nothing in it. Throws NoMiniStack. */
  static async start(options: MiniStackOptions = {}): Promise<MiniStack> {
    const python = await installed();
    const port = await freePort();
    const directory = await mkdtemp(join(tmpdir(), "fenceline-ministack-"));
    // Its workers are scripts of CommonJS, whatever a package.json further up says of the files below it.
    await writeFile(join(directory, "package.json"), "{}\n");
    const child = spawn(python, ["-m", "ministack"], {
      cwd: directory,
      stdio: ["ignore", "ignore", "pipe"],
      env: {
        PATH: process.env.PATH ?? "",
        HOME: directory,
        TMPDIR: directory,
        BIND_HOST: "127.0.0.1",
        GATEWAY_PORT: String(port),
        LOG_LEVEL: "ERROR",
        ...clientEnvironment(port),
        ...options.environment,
      },
    });
    const emulator = new MiniStack(port, child, directory);
    const complaint = lastWords(child);
    try {
      await emulator.#ready();
      return emulator;
    } catch (error) {
      await emulator.stop();
      throw new NoMiniStack(`MiniStack did not start: ${complaint() || String(error)}`);
    }
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** What a process needs to talk to it with the SDK, the CDK or the CLI. */
  get environment(): Readonly<Record<string, string>> {
    return clientEnvironment(this.port);
  }

  /** Ends the process that `start` began, and forgets what it held. */
  async stop(): Promise<void> {
    process.off("exit", this.#stopWithUs);
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const gone = once(this.child, "exit");
      this.child.kill("SIGTERM");
      const timer = setTimeout(() => this.child.kill("SIGKILL"), STOP_TIMEOUT_MS);
      await gone;
      clearTimeout(timer);
    }
    await rm(this.directory, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #ready(): Promise<void> {
    const giveUpAt = performance.now() + START_TIMEOUT_MS;
    while (performance.now() < giveUpAt) {
      if (this.child.exitCode !== null) throw new Error(`it ended with ${this.child.exitCode}`);
      const answer = await fetch(`${this.url}/_ministack/health`).catch(() => undefined);
      if (answer?.ok === true) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`no answer in ${START_TIMEOUT_MS} ms`);
  }
}

/** Credentials that mean nothing; the account is the emulator's own. */
function clientEnvironment(port: number): Record<string, string> {
  const url = `http://127.0.0.1:${port}`;
  return {
    AWS_ENDPOINT_URL: url,
    AWS_ENDPOINT_URL_S3: url,
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_REGION: "us-east-1",
    AWS_DEFAULT_REGION: "us-east-1",
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
  };
}

/**
 * The Python that has it. Built beside its place and moved there whole: of processes that install at the same
 * time one wins, and none finds half of it.
 */
async function installed(): Promise<string> {
  const home = join(IGNORED_FOLDER, `ministack-${MINISTACK_VERSION}`);
  const pythonIn = (folder: string) => join(folder, "bin", "python3");
  if (existsSync(pythonIn(home))) return pythonIn(home);
  await mkdir(IGNORED_FOLDER, { recursive: true });
  const building = await mkdtemp(join(IGNORED_FOLDER, "building-"));
  try {
    const limits = { timeout: INSTALL_TIMEOUT_MS };
    await run("python3", ["-m", "venv", building], limits);
    const quiet = ["--quiet", "--disable-pip-version-check", "--no-input"];
    const install = ["-m", "pip", "install", ...quiet, `ministack==${MINISTACK_VERSION}`];
    await run(pythonIn(building), install, limits);
    await rename(building, home);
  } catch (error) {
    await rm(building, { recursive: true, force: true });
    if (!existsSync(pythonIn(home))) {
      const why = error instanceof Error ? error.message.trim().split("\n").slice(-1)[0] : String(error);
      throw new NoMiniStack(
        `MiniStack ${MINISTACK_VERSION} cannot be installed with python3 and pip: ${why}`,
      );
    }
  }
  return pythonIn(home);
}

/** The end of what a process says on stderr. */
function lastWords(child: ChildProcess): () => string {
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-2_000);
  });
  return () => said.trim();
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
