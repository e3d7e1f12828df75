/** Adds up the `Server-Timing` headers of a command's reads. */

/** What bookies were asked for, over several answers. */
interface TimingSums {
  readonly answers: number;
  readonly totalMs: number;
  readonly longestMs: number;
  readonly attempts: number;
  readonly hedges: number;
  readonly crossRegionHedges: number;
  readonly failovers: number;
  /** How far away answers came from, and how many. */
  readonly winners: ReadonlyMap<string, number>;
}

const DESCRIBED = /(?:^|,)\s*([a-z-]+)\s*;\s*desc="([^"]*)"/g;

export class ReadTimings {
  readonly #durationsMs: number[] = [];
  readonly #counts = new Map<string, number>();
  readonly #winners = new Map<string, number>();

  /** Takes one header; what it does not know in it is left alone. */
  add(serverTiming: string): void {
    const duration = /(?:^|,)\s*read\s*;\s*dur=([\d.]+)/.exec(serverTiming)?.[1];
    if (duration !== undefined) this.#durationsMs.push(Number(duration));
    for (const [, name = "", text = ""] of serverTiming.matchAll(DESCRIBED)) {
      if (name === "winner") this.#addWinners(text);
      else if (/^\d+$/.test(text)) addTo(this.#counts, name, Number(text));
    }
  }

  get sums(): TimingSums {
    const count = (name: string) => this.#counts.get(name) ?? 0;
    return {
      answers: this.#durationsMs.length,
      totalMs: this.#durationsMs.reduce((sum, durationMs) => sum + durationMs, 0),
      longestMs: this.#durationsMs.reduce((longest, durationMs) => Math.max(longest, durationMs), 0),
      attempts: count("attempts"),
      hedges: count("hedges"),
      crossRegionHedges: count("cross-region-hedges"),
      failovers: count("failovers"),
      winners: this.#winners,
    };
  }

  /** One line for people. */
  get text(): string {
    const { answers, totalMs, longestMs, attempts, hedges, crossRegionHedges, failovers } = this.sums;
    const winners = [...this.#winners].map(([distance, count]) => `${distance} ${count}`).join(", ");
    return (
      `${answers} answers in ${totalMs.toFixed(0)} ms, the longest in ${longestMs.toFixed(0)} ms; ` +
      `${attempts} requests to bookies, ${hedges} hedges (${crossRegionHedges} out of the region), ` +
      `${failovers} failovers; answered from: ${winners || "nowhere"}`
    );
  }

  /** `same-region=12 region us-east-1=3` */
  #addWinners(text: string): void {
    for (const [, distance = "", count = ""] of text.matchAll(/\s*([^=]+)=(\d+)/g)) {
      addTo(this.#winners, distance, Number(count));
    }
  }
}

function addTo(sums: Map<string, number>, name: string, amount: number): void {
  sums.set(name, (sums.get(name) ?? 0) + amount);
}
