/** Times on the command line, as ms since 1970: calendar dates with their zone, and durations before now. */
import { InvalidArgumentError } from "commander";

const TIME = String.raw`(?<time>\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(?<zone>Z|[+-]\d{2}:?\d{2})?`;
const DATE_TIME = new RegExp(String.raw`^(?<date>\d{4}-\d{2}-\d{2})(?:[T ]${TIME})?$`, "i");
const DURATION = new RegExp(
  `^${["w", "d", "h", "m", "s", "ms"].map((unit) => String.raw`(?:(\d{1,9})${unit})?`).join("")}$`,
);
const UNITS_MS = [604_800_000, 86_400_000, 3_600_000, 60_000, 1_000, 1] as const;

const ALLOWED =
  "It is a time such as 2027-01-31T12:00:00Z or 2027-01-31T14:00+02:00, a date from 1970 on, " +
  "ms since 1970, or a duration before now such as 5m.";

/** A time, or how long before now. */
export function since(text: string): number {
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  const parts = DATE_TIME.exec(text)?.groups;
  const time = parts === undefined ? beforeNow(text) : timeOf(parts);
  if (time !== undefined && time >= 0) return time;
  throw new InvalidArgumentError(ALLOWED);
}

/** How long before now, by this machine's clock: "1h30m". What lies before 1970 is 1970. */
export function ago(text: string): number {
  const time = beforeNow(text);
  if (time !== undefined) return time;
  throw new InvalidArgumentError("It is a duration such as 90s, 5m, 1h30m, 2d or 1w.");
}

function beforeNow(text: string): number | undefined {
  const [, ...counts] = DURATION.exec(text) ?? [];
  if (counts.every((count) => count === undefined)) return undefined;
  const durationMs = UNITS_MS.reduce((sum, unitMs, index) => sum + unitMs * Number(counts[index] ?? 0), 0);
  return Math.max(0, Date.now() - durationMs);
}

/** Undefined: the calendar or the clock has no such time. */
function timeOf({ date = "", time, zone }: Readonly<Record<string, string | undefined>>): number | undefined {
  if (time === undefined) return instant(`${date}T00:00:00Z`, date);
  if (zone === undefined) {
    throw new InvalidArgumentError(
      `It has no zone: ${date}T${time}Z is UTC, ${date}T${time}+02:00 two hours ahead of it.`,
    );
  }
  const [hours = 0, minutes = 0] = zone.match(/\d\d/g)?.map(Number) ?? [];
  if (hours > 23 || minutes > 59) return undefined;
  const utc = instant(`${date}T${time}Z`, date);
  const aheadMs = (hours * 60 + minutes) * 60_000 * (zone.startsWith("-") ? -1 : 1);
  return utc === undefined ? undefined : utc - aheadMs;
}

/** Dates that roll over, as 30 February does to 2 March, are none. */
function instant(isoText: string, date: string): number | undefined {
  const time = Date.parse(isoText);
  return Number.isNaN(time) || !new Date(time).toISOString().startsWith(date) ? undefined : time;
}
