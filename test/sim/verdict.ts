/** The first thing found wrong ends the run; what follows from it is of no interest. */
export interface Violation {
  readonly checker: string;
  readonly what: string;
  /** Ledger or log that it is about; selects the events worth telling. */
  readonly subject: string;
}

export class Verdict {
  violation: Violation | undefined;

  report(checker: string, what: string, subject: string | number = ""): void {
    this.violation ??= { checker, what, subject: String(subject) };
  }
}
