/** Something that the person at the laptop can mend: told without a stack. */
export class LocalError extends Error {
  override readonly name = "LocalError";
}
