/** Something that the person at the laptop can mend: printed without a stack. */
export class LocalError extends Error {
  override readonly name: string = "LocalError";
}

/** No cloud answers on the directory. */
export class NoCloudError extends LocalError {
  override readonly name = "NoCloudError";

  constructor(
    readonly dataDir: string,
    message: string,
  ) {
    super(message);
  }
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
