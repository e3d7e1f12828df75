/** Commands as a user types them, in this process. */
import { PassThrough, Writable } from "node:stream";
import { runCommand } from "../../lib/cli/main.ts";
import type { FaultyEndpoint } from "./faulty-endpoint.ts";

/** What a command wrote. */
export class Collected extends Writable {
  readonly chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.chunks.push(chunk);
    done();
  }

  get bytes(): Buffer {
    return Buffer.concat(this.chunks);
  }
}

/** One command, with everything that it wrote. */
export async function run(
  args: readonly string[],
  input: string | Buffer = "",
  signal = new AbortController().signal,
) {
  const [stdout, stderr] = [new Collected(), new Collected()];
  const stdin = new PassThrough();
  stdin.end(input);
  const code = await runCommand(args, { stdin, stdout, stderr }, signal);
  return { code, out: stdout.bytes.toString(), bytes: stdout.bytes, err: stderr.bytes.toString() };
}

/** A command line with the endpoint behind it. */
export function at(endpoint: FaultyEndpoint) {
  return (line: string, input?: string | Buffer) =>
    run([...line.split(" "), "--endpoint", endpoint.url, "--retry-for", "1"], input);
}
