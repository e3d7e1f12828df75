/**
 * A wrong version of the protocol: source files of it with a few words changed, as a careless hand might
 * change them. The shipped code has no switches for this; the changed text is bundled beside it.
 */

export interface Patch {
  /** Path from the repository's root. */
  readonly file: string;
  /** Text that stands in the file exactly once. */
  readonly from: string;
  readonly to: string;
}

export interface Mutant {
  readonly name: string;
  /** The rule that it breaks, and the story that tells why the rule is there. */
  readonly breaks: string;
  readonly patches: readonly Patch[];
  /** Profiles that are tried in turn. */
  readonly profiles: readonly string[];
}
