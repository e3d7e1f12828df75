/** All bookies of a deployment, as one process reaches them: one client per region, kept alive. */
import { unavailable } from "../../protocol/errors.ts";
import type { BookieId } from "../../protocol/ids.ts";
import type { Bookie, Bookies } from "../../protocol/ports.ts";
import { LambdaBookie } from "./lambda-bookie.ts";
import type { LambdaFunction } from "./lambda-call.ts";

export class LambdaBookies implements Bookies {
  readonly #reached = new Map<BookieId, Bookie>();

  /** `find`: a bookie's function; undefined if the deployment has no such bookie. */
  constructor(private readonly find: (id: BookieId) => LambdaFunction | undefined) {}

  bookie(id: BookieId): Bookie {
    const known = this.#reached.get(id);
    if (known !== undefined) return known;
    const target = this.find(id);
    if (target === undefined) return nobody(id);
    const bookie = new LambdaBookie(id, target);
    this.#reached.set(id, bookie);
    return bookie;
  }
}

/** A member of an old ensemble that this deployment does not have: its calls reject. */
function nobody(id: BookieId): Bookie {
  const reject = async (): Promise<never> => {
    throw unavailable(`this deployment has no bookie ${id}`, "none");
  };
  return {
    id,
    add: reject,
    read: reject,
    tail: reject,
    fence: reject,
    recoveryRead: reject,
    recoveryAdd: reject,
    seal: reject,
    deleteEntries: reject,
    forget: reject,
  };
}
