import { SetpointError, validateDns1123Label } from "@setpoint/apimachinery";

/** The code of errors in how a command was called. */
export const usageError = "ERR_USAGE";

/** Where a command writes. */
export interface Output {
  /** Its result. */
  out(text: string): void;
  /** What a person should know. */
  err(text: string): void;
  /** Whether `out` shows colours. */
  readonly hasColors?: boolean;
}

export interface Command {
  readonly name: string;
  /** Name and arguments, as shown in the usage. */
  readonly usage: string;
  readonly summary: string;
  /** Not for people. */
  readonly internal?: boolean;
  /** Resolves to the exit code. */
  run(args: readonly string[], output: Output): Promise<number>;
}

/** The value of a numeric flag. */
export function parseNumber(flag: string, text: string | undefined, fallback: number, max: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= max) return value;
  throw new SetpointError(usageError, `Cannot use --${flag} ${text}: expected a whole number from 0 to ${max}`);
}

/** The value of a flag that names a namespace. */
export function parseNamespace(flag: string, name: string): string {
  if (validateDns1123Label(name).length === 0) return name;
  const expected = "expected lower case letters, digits and '-', as in \"team-a\"";
  throw new SetpointError(usageError, `Cannot use --${flag} "${name}": ${expected}`);
}

/** Refuses arguments beyond those that a command takes; `what` completes the sentence. */
export function refuseMore(what: string, given: readonly string[], max: number): void {
  const [first] = given.slice(max);
  if (first !== undefined) throw new SetpointError(usageError, `Cannot ${what}: unexpected argument "${first}"`);
}

/** Resolves with the first SIGINT, SIGTERM, or SIGHUP, which a terminal sends that is closed. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve(signal));
  });
}
