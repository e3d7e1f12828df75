/** A member of an old ensemble that is not there any more. */
import { unavailable } from "../errors.ts";
import type { BookieId } from "../ids.ts";
import type { Bookie } from "../ports.ts";

/** Each of its calls rejects, without effect. `where`: what has no such bookie, for people to read. */
export function absentBookie(id: BookieId, where: string): Bookie {
  const reject = async (): Promise<never> => {
    throw unavailable(`${where} has no bookie ${id}`, "none");
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
