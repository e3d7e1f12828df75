/** All bookies of a deployment, as one process reaches them: one client per region, kept alive. */
import { absentBookie } from "../../protocol/bookie/absent-bookie.ts";
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
    if (target === undefined) return absentBookie(id, "this deployment");
    const bookie = new LambdaBookie(id, target);
    this.#reached.set(id, bookie);
    return bookie;
  }
}
