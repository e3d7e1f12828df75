/** A directory that goes away with its test. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class ScratchDirectory implements AsyncDisposable {
  private constructor(readonly path: string) {}

  static async make(): Promise<ScratchDirectory> {
    return new ScratchDirectory(await mkdtemp(join(tmpdir(), "fenceline-test-")));
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove();
  }
}
