/** The value of synchronous_standby_names, as a server of the model reads it. */

export interface SynchronousRule {
  readonly number: number;
  readonly names: readonly string[];
}

/** Undefined: commits wait for nobody. */
export function parseSynchronousNames(text: string): SynchronousRule | undefined {
  if (text === "") return undefined;
  const match = /^ANY (\d+) \((.*)\)$/.exec(text);
  if (match === null) throw new Error(`Cannot read synchronous_standby_names "${text}": expected ANY NUMBER ("NAME")`);
  const names = [...(match[2] ?? "").matchAll(/"([^"]*)"/g)].map(([, name = ""]) => name);
  return { number: Number(match[1]), names };
}
