/** Controls a running cloud through its control endpoint. */
import type { Problem } from "../api/problem.ts";
import { type ControlAddress, readControlFile } from "./control-file.ts";
import type { RegionState } from "./control-server.ts";
import { LocalError, LocalNotFoundError, NoCloudError } from "./local-error.ts";

/** New storage is set up while the caller waits. */
const TIMEOUT_MS = 30_000;

/** Bookies that were added, and the regions as they are now. */
interface Added {
  readonly added: readonly string[];
  readonly regions: readonly RegionState[];
}

export class Control {
  private constructor(
    private readonly dataDir: string,
    private readonly address: ControlAddress,
  ) {}

  /** Throws NoCloudError if no cloud runs on the directory. */
  static async open(dataDir: string): Promise<Control> {
    return new Control(dataDir, await readControlFile(dataDir));
  }

  /** `state`: up, refusing or hanging. Throws LocalError with what the cloud says. */
  async setRegion(name: string, state: string): Promise<readonly RegionState[]> {
    const path = `/regions/${encodeURIComponent(name)}/${encodeURIComponent(state)}`;
    return (await this.#send<{ readonly regions: readonly RegionState[] }>("PUT", path)).regions;
  }

  /** Of that name or region, as `setRegion` does regions. Throws LocalError with what the cloud says. */
  async setBookies(name: string, state: string): Promise<readonly string[]> {
    const path = `/bookies/${encodeURIComponent(name)}/${encodeURIComponent(state)}`;
    return (await this.#send<{ readonly bookies: readonly string[] }>("PUT", path)).bookies;
  }

  /** Adds a region with so many bookies. Throws LocalError with what the cloud says. */
  addRegion(name: string, bookies: number): Promise<Added> {
    return this.#send("POST", `/regions/${encodeURIComponent(name)}?bookies=${bookies}`);
  }

  /** Adds a bookie to a region. Throws LocalError with what the cloud says. */
  addBookie(region: string, rack?: string): Promise<Added> {
    const query = rack === undefined ? "" : `?rack=${encodeURIComponent(rack)}`;
    return this.#send("POST", `/regions/${encodeURIComponent(region)}/bookies${query}`);
  }

  async #send<T>(method: string, path: string): Promise<T> {
    const { ok, answer } = await this.#exchange<T>(method, path);
    if (ok) return answer;
    if (answer.code === "region_not_found") throw new LocalNotFoundError("region", answer.detail);
    if (answer.code === "bookie_not_found") throw new LocalNotFoundError("bookie", answer.detail);
    throw new LocalError(answer.detail);
  }

  async #exchange<T>(method: string, path: string): Promise<{ ok: boolean; answer: T & Problem }> {
    const { url, token, pid } = this.address;
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      return { ok: response.ok, answer: (await response.json()) as T & Problem };
    } catch (error) {
      throw new NoCloudError(
        this.dataDir,
        `the cloud on ${this.dataDir} does not answer at ${url} (${String(error)}); process ${pid} ` +
          "wrote its control.json and may have ended",
      );
    }
  }
}
