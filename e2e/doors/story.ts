/** What a reader does with a page: its commands as typed, in one shell. */

/** Where a story is played. */
export type Place =
  /** A fresh clone of the repository, after `npm ci`. */
  | "clone"
  /** A folder in which the tarball is installed, with the examples beside it, and a running `setpoint up`. */
  | "project"
  /** An empty folder; the story installs the tarball itself. */
  | "empty";

export interface Story {
  readonly title: string;
  /** The pages whose commands it types, below the repository's root. */
  readonly pages: readonly string[];
  readonly place: Place;
  /** Played by CI; the others by `npm run doors`. */
  readonly inCi?: boolean;
  readonly acts: readonly Act[];
}

export type Act = TypedCommand | Preparation;

/** How a command ends, and what it prints. */
export interface Expected {
  /** What it must print. */
  readonly says?: RegExp;
  /** It goes on in the background; the next act begins when it has printed this. */
  readonly until?: RegExp;
  /** The expected exit code; 0 when absent. */
  readonly code?: number;
  readonly seconds?: number;
}

export interface TypedCommand extends Expected {
  /** As the page prints it. */
  readonly typed: string;
  /** What a reader puts in place of words of the page. */
  readonly with?: Readonly<Record<string, string>>;
}

/** What the page takes for granted, as commands that it does not print. */
export interface Preparation extends Expected {
  readonly prepare: string;
  /** Files that it needs, in the current folder. */
  readonly files?: Readonly<Record<string, string>>;
}

export function isTyped(act: Act): act is TypedCommand {
  return "typed" in act;
}
