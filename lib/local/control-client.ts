/** Controls a running cloud through its control endpoint. */
import type { Problem } from "../api/problem.ts";
import { type ControlAddress, readControlFile } from "./control-file.ts";
import type { RegionState } from "./control-server.ts";
import { LocalError } from "./local-error.ts";

const TIMEOUT_MS = 10_000;

export class Control {
  private constructor(
    private readonly dataDir: string,
    private readonly address: ControlAddress,
  ) {}

  /** Throws LocalError if no cloud runs on the directory. */
  static async open(dataDir: string): Promise<Control> {
    return new Control(dataDir, await readControlFile(dataDir));
  }

  /** `state`: up, refusing or hanging. Throws LocalError with what the cloud says. */
  async setRegion(name: string, state: string): Promise<readonly RegionState[]> {
    const path = `/regions/${encodeURIComponent(name)}/${encodeURIComponent(state)}`;
    const { ok, answer } = await this.#send<{ readonly regions: readonly RegionState[] }>("PUT", path);
    if (ok) return answer.regions;
    throw new LocalError(answer.detail);
  }

  async #send<T>(method: string, path: string): Promise<{ ok: boolean; answer: T & Problem }> {
    const { url, token, pid } = this.address;
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      return { ok: response.ok, answer: (await response.json()) as T & Problem };
    } catch (error) {
      throw new LocalError(
        `the cloud on ${this.dataDir} does not answer at ${url}; process ${pid} wrote its control.json ` +
          `and may have ended. Start it again with fenceline local. (${String(error)})`,
      );
    }
  }
}
