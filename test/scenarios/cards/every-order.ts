/**
 * Runs a story once for each order in which its steps can happen. A step waits at the turnstile; whenever
 * nothing else can go on, one of those that wait is let through, and in the end every choice was made.
 *
 *     const runs = await everyOrder(async (turnstile) => {
 *       w.faults.at({ port: "store" }, "before", Infinity, () => turnstile.pass());
 *       ...start what is to be interleaved; return what to do when all of it is done
 *     });
 */
export class Turnstile {
  #waiting: (() => void)[] = [];

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Waits for its turn. */
  pass(): Promise<void> {
    return new Promise((go) => this.#waiting.push(go));
  }

  letThrough(index: number): void {
    const [go] = this.#waiting.splice(index, 1);
    if (go === undefined) throw new Error(`nobody waits at ${index}`);
    go();
  }
}

/** Plays one run; what it returns is called when nothing waits any more. */
export type Story = (turnstile: Turnstile) => Promise<() => Promise<void> | void>;

const turnOfLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Returns how many orders there were. */
export async function everyOrder(story: Story, runsMax = 100_000): Promise<number> {
  let choices: number[] | undefined = [];
  let runs = 0;
  while (choices !== undefined) {
    runs += 1;
    if (runs > runsMax) throw new Error(`more than ${runsMax} orders`);
    choices = await oneOrder(story, choices);
  }
  return runs;
}

/** Plays the run that `prefix` begins, and returns where the next one differs; undefined after the last. */
async function oneOrder(story: Story, prefix: readonly number[]): Promise<number[] | undefined> {
  const turnstile = new Turnstile();
  const taken: { index: number; of: number }[] = [];
  const check = await story(turnstile);
  for (await turnOfLoop(); turnstile.waiting > 0; await turnOfLoop()) {
    const index = prefix[taken.length] ?? 0;
    taken.push({ index, of: turnstile.waiting });
    turnstile.letThrough(index);
  }
  await check();
  const last = taken.findLastIndex(({ index, of }) => index + 1 < of);
  if (last < 0) return undefined;
  return [...taken.slice(0, last).map(({ index }) => index), (taken[last]?.index ?? 0) + 1];
}

/** All orders of the items. */
export function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((first, index) =>
    permutations(items.filter((_, other) => other !== index)).map((rest) => [first, ...rest]),
  );
}

/** All subsets of 0 .. count-1. */
export function subsets(count: number): Set<number>[] {
  return Array.from(
    { length: 2 ** count },
    (_, bits) =>
      new Set(Array.from({ length: count }, (_, index) => index).filter((index) => (bits >> index) & 1)),
  );
}
