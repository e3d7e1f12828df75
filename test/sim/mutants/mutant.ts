/**
 * A wrong version of the protocol: declarations of it with one thing changed, as a careless hand might change
 * it. The shipped code has no switches for this; the changed text is bundled beside it.
 */

export interface Patch {
  /** The declaration that changes, in any file of lib: `function`, `CONSTANT`, `Class` or `Class.member`. */
  readonly in: string;
  /** How the file's path ends, if several files declare that name. */
  readonly file?: string;
  /**
   * What stands in the declaration exactly once: an expression, statements in a row, a member of a class, a
   * property or a parameter. It is compared as syntax: layout, comments and needless parentheses do not count.
   */
  readonly from: string;
  /** What takes its place. Empty: statements, or a member, go. */
  readonly to: string;
  /** Exports of lib that `to` needs beside what the file imports. */
  readonly uses?: readonly string[];
}

export interface WrongVersion {
  readonly name: string;
  /** The rule that it breaks, and the story that shows why the rule is there. */
  readonly breaks: string;
  readonly patches: readonly Patch[];
}

/** Shown by seeds: a checker of the simulator objects. */
export interface Mutant extends WrongVersion {
  /** Profiles that are tried in turn. */
  readonly profiles: readonly string[];
}

/** Shown by a test. */
export interface TestedMutant extends WrongVersion {
  readonly caughtBy: {
    /** From the repository's root. */
    readonly file: string;
    /** The test's own title, without those of the groups around it. */
    readonly title: string;
  };
}

/** How a mutant was caught. */
export interface Catch {
  /** The checker, profile and seed, or the test. */
  readonly by: string;
  /** What was seen. */
  readonly what: string;
  /** Absent: a test caught it. */
  readonly seed?: number;
}

/** The changed words name something that is not there: not a wrong protocol, but no protocol. */
export const isBroken = (what: string): boolean => /ReferenceError|SyntaxError|is not a function/.test(what);
