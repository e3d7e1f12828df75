/** Bookies whose answers a story gives by hand, one at a time, in the order it likes. */
import { unavailable } from "../../../lib/protocol/errors.ts";
import type { BookieId } from "../../../lib/protocol/ids.ts";
import type { LedgerPorts } from "../../../lib/protocol/ledger/ledger-ports.ts";
import type { Bookie, Bookies } from "../../../lib/protocol/ports.ts";
import type { World } from "../world.ts";

type Call = keyof Omit<Bookie, "id" | "readSeveral">;

export class ScriptedBookies implements Bookies {
  readonly #given = new Map<string, unknown>();
  readonly #waiting = new Map<string, ((answer: unknown) => void)[]>();

  constructor(private readonly w: World) {}

  /** The answer of that bookie, now and at every later try; "unknown" rejects. */
  async answer(bookie: string, answer: { readonly kind: string } | "unknown"): Promise<void> {
    this.#given.set(bookie, answer);
    for (const settle of this.#waiting.get(bookie)?.splice(0) ?? []) settle(answer);
    await this.w.clock.advance(100); // the second try of one that does not answer
  }

  bookie(id: BookieId): Bookie {
    const ask = async () => {
      const known = this.#given.get(id);
      const answer = known ?? (await new Promise((settle) => this.#waitingFor(id).push(settle)));
      if (answer === "unknown") throw unavailable(`${id} does not answer`);
      return answer;
    };
    const calls: Record<Call, () => Promise<unknown>> = {
      add: ask,
      read: ask,
      tail: ask,
      fence: ask,
      recoveryRead: ask,
      recoveryAdd: ask,
      seal: ask,
      deleteEntries: ask,
      forget: ask,
    };
    return { id, ...calls } as Bookie;
  }

  /** Ports of a client that talks to these bookies. */
  ports(client = "R"): LedgerPorts {
    return { ...this.w.ports(client), bookies: this };
  }

  #waitingFor(id: BookieId): ((answer: unknown) => void)[] {
    const list = this.#waiting.get(id) ?? [];
    this.#waiting.set(id, list);
    return list;
  }
}
