/**
 * What an engine needs of the machine that it runs on: to run a program, and to notice that a file has
 * changed.
 */
import { SetpointError } from "@setpoint/apimachinery";

/** One run of a program: command, input, environment and limits. */
export interface ProgramCall {
  /** The program and its arguments; no shell reads them. */
  readonly command: readonly string[];
  /** What it reads from its standard input. */
  readonly input: string;
  /** Its environment, besides `PATH` and what every program needs. */
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly outputBytesMax: number;
}

/** How a program has ended. */
export interface ProgramEnd {
  readonly code: number;
  readonly stdout: string;
  /** The end of it, where it is long. */
  readonly stderr: string;
}

/** The programs of a machine. `systemPrograms` are the real ones; a test has a function. */
export interface Programs {
  /** Rejects with `ERR_PROGRAM` for a program that cannot be started, takes too long or writes too much. */
  run(this: void, call: ProgramCall, signal: AbortSignal): Promise<ProgramEnd>;
  /**
   * A text that is another one whenever one of these files, or a file below one of these folders, has
   * changed.
   */
  fingerprint(this: void, paths: readonly string[]): Promise<string>;
}

/** A program could not be run, or did not end well. */
export const errProgram = "ERR_PROGRAM";
/** A program wrote what cannot be used. */
export const errProgramOutput = "ERR_PROGRAM_OUTPUT";
/** A program cannot be asked about an object: a field that its command line wants is missing. */
export const errProgramInput = "ERR_PROGRAM_INPUT";

export function programError(command: readonly string[], problem: string, cause?: unknown): SetpointError {
  return new SetpointError(errProgram, `Cannot run ${shown(command)}: ${problem}`, { cause });
}

const shownLengthMax = 120;

/** A command as a person would type it, cut where it is long. */
export function shown(command: readonly string[]): string {
  const text = command.join(" ");
  return `"${text.length > shownLengthMax ? `${text.slice(0, shownLengthMax)}…` : text}"`;
}
