/** What a bench must show: a value, its limit, and whether it holds. */
export interface Gate {
  readonly gate: string;
  readonly value: number;
  readonly limit: number;
  readonly holds: boolean;
}

export function atMost(gate: string, value: number, limit: number): Gate {
  return { gate, value: rounded(value), limit, holds: value <= limit };
}

export function atLeast(gate: string, value: number, limit: number): Gate {
  return { gate, value: rounded(value), limit, holds: value >= limit };
}

const rounded = (value: number): number => Math.round(value * 10_000) / 10_000;

export function gateLines(gates: readonly Gate[]): string {
  return gates
    .map(
      ({ gate, value, limit, holds }) =>
        `${holds ? "holds " : "FAILS "} ${gate}: ${value} (limit ${limit})\n`,
    )
    .join("");
}
