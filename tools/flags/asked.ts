/** The flags of our own programs: a bad flag ends the program with a message before it does anything. */
import { parseArgs, type ParseArgsConfig } from "node:util";

/** Ends the process with a sentence: what was asked for cannot be done. */
export function refuse(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}

/** The flags as `parseArgs` reads them; `what` says what the program does: `explore`. */
export function asked<T extends ParseArgsConfig>(what: string, config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/\. To specify .*/s, "") : String(error);
    return refuse(`Cannot ${what}: ${why}; the flags are --${Object.keys(config.options ?? {}).join(", --")}`);
  }
}

/** The whole number that a flag says, at least `min`. */
export function wholeNumber(what: string, flag: string, text: string, min = 0): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < min)
    refuse(`Cannot ${what}: --${flag} is "${text}", expected a whole number${min === 0 ? "" : ` of at least ${min}`}`);
  return number;
}
