/** Names of members as all that programs read here has them: snake_case. */

/** `value` with its own members renamed; what they hold stays as it is. */
export function inSnakeCase(value: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).map(([name, held]) => [snakeCase(name), held]));
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
