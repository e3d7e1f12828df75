/** Something that the person at the laptop can mend: printed without a stack. */
export class LocalError extends Error {
  override readonly name: string = "LocalError";
}

/** What was named is not in the cloud. */
export class LocalNotFoundError extends LocalError {
  override readonly name = "LocalNotFoundError";

  constructor(
    readonly what: "region" | "bookie",
    message: string,
  ) {
    super(message);
  }
}
