/**
 * The order in which regions, racks and bookies take turns: a hash of the ledger id and the name. Every name
 * comes first equally often, without a counter that processes would have to share; and when one drops out,
 * its turns spread over all the others.
 */
import type { LedgerId } from "../ids.ts";

export class LedgerTurn {
  readonly #low: number;
  readonly #high: number;

  constructor(ledgerId: LedgerId) {
    this.#low = mixed(ledgerId | 0);
    this.#high = mixed(Math.floor(ledgerId / 2 ** 32) ^ 0x5bd1e995);
  }

  /** A whole number in [0, 2^32); the lower, the earlier. */
  of(name: string): number {
    return mixed(mixed(hashOf(name) ^ this.#low) ^ this.#high);
  }

  /** The named things, earliest turn first. */
  sorted<T>(things: readonly T[], nameOf: (thing: T) => string): T[] {
    return this.earliest(things, things.length, nameOf);
  }

  /** The `many` things whose turns are earliest, in that order; time grows with the number of things. */
  earliest<T>(things: readonly T[], many: number, nameOf: (thing: T) => string): T[] {
    const first: Turn<T>[] = [];
    for (const thing of things) {
      const candidate = { thing, name: nameOf(thing), turn: this.of(nameOf(thing)) };
      let place = first.length;
      while (place > 0 && byTurn(candidate, first[place - 1] as Turn<T>) < 0) place--;
      if (place >= many) continue;
      first.splice(place, 0, candidate);
      if (first.length > many) first.pop();
    }
    return first.map(({ thing }) => thing);
  }
}

interface Turn<T> {
  readonly thing: T;
  readonly name: string;
  readonly turn: number;
}

function byTurn(one: { name: string; turn: number }, other: { name: string; turn: number }): number {
  if (one.turn !== other.turn) return one.turn - other.turn;
  if (one.name === other.name) return 0;
  return one.name < other.name ? -1 : 1;
}

/** FNV-1a over the code units. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5 | 0;
  for (let index = 0; index < name.length; index++) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  }
  return hash;
}

/** The finisher of MurmurHash3: every bit of the input moves every bit of the output. */
function mixed(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
