/** Quorum sizes as this surface calls them, in what the protocol says of them. */
const WIRE_NAMES: Readonly<Record<string, string>> = {
  ensembleSize: "ensemble_size",
  writeQuorum: "write_quorum",
  ackQuorum: "ack_quorum",
  minRegions: "min_regions",
};

const NAME = new RegExp(`\\b(${Object.keys(WIRE_NAMES).join("|")})\\b`, "g");

export function withWireNames(text: string): string {
  return text.replace(NAME, (name) => WIRE_NAMES[name] ?? name);
}
