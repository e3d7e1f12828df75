/** Variables as a function was given them, read one by one: lib/environment.ts says which there are. */

export type GivenVariables = Readonly<Record<string, string | undefined>>;

/** A variable's value cannot be used. */
export class EnvironmentError extends Error {
  override readonly name = "EnvironmentError";
}

export function text(given: GivenVariables, name: string): string {
  const value = given[name];
  if (value === undefined || value === "") throw wrong(name, value, "a value that is not empty");
  return value;
}

export function oneOf<const T extends string>(given: GivenVariables, name: string, allowed: readonly T[]): T {
  const value = text(given, name);
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw wrong(name, value, `one of ${allowed.join(", ")}`);
  return found;
}

/** A list of one or more lists of so many texts. */
export function rows(given: GivenVariables, name: string, columns: number): string[][] {
  const value = json(given, name);
  const isRow = (row: unknown): row is string[] =>
    Array.isArray(row) && row.length === columns && row.every(isName);
  if (Array.isArray(value) && value.length > 0 && value.every(isRow)) return value;
  throw wrong(name, text(given, name), `a list of rows of ${columns} texts each`);
}

export function object(given: GivenVariables, name: string): Readonly<Record<string, unknown>> {
  const value = json(given, name);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw wrong(name, text(given, name), "an object");
}

function json(given: GivenVariables, name: string): unknown {
  const value = text(given, name);
  try {
    return JSON.parse(value);
  } catch {
    throw wrong(name, value, "JSON");
  }
}

export function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

export function wrong(name: string, value: string | undefined, allowed: string): EnvironmentError {
  const shown = value === undefined ? "is not set" : `is ${JSON.stringify(value.slice(0, 200))}`;
  return new EnvironmentError(`the variable ${name} ${shown}; it must be ${allowed}: deploy again`);
}
