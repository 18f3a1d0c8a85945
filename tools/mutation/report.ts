/** What a campaign says at its end. */
import { explainedSurvivors } from "./explained-survivors.ts";
import type { Mutant } from "./mutants.ts";
import type { Verdict } from "./test-process.ts";

export type Fates = ReadonlyMap<number, Verdict["fate"]>;

export function report(mutants: readonly Mutant[], fates: Fates): void {
  const alive = mutants.filter(({ id }) => fates.get(id) === "survived");
  const endless = mutants.filter(({ id }) => fates.get(id) === "endless");
  const explained = explanations(alive);
  for (const each of endless) console.log(`endless: ${described(each)}`);
  for (const each of alive) console.log(`survived: ${described(each)}${suffix(explained.get(each))}`);
  for (const file of new Set(mutants.map((each) => each.file))) {
    const total = mutants.filter((each) => each.file === file).length;
    const left = alive.filter((each) => each.file === file);
    console.log(`${percent(total - left.length, total)} % of ${total} killed in ${file}`);
  }
  const killed = mutants.length - alive.length;
  console.log(
    `${percent(killed, mutants.length)} % of ${mutants.length} mutants killed (${endless.length} of them by a test that never ended), ` +
      `${alive.length} survived, ${explained.size} of them explained, ${alive.length - explained.size} not`,
  );
}

/** Each explanation is of one mutant: the same change at another place of the file needs another. */
function explanations(alive: readonly Mutant[]): ReadonlyMap<Mutant, string> {
  const found = new Map<Mutant, string>();
  for (const { file, change, why } of explainedSurvivors) {
    const mutant = alive.find((each) => each.file.endsWith(file) && each.change === change && !found.has(each));
    if (mutant !== undefined) found.set(mutant, why);
  }
  return found;
}

export function described({ file, line, change }: Mutant): string {
  return `${file}:${line}  ${change}`;
}

function percent(part: number, whole: number): string {
  return ((100 * part) / whole).toFixed(1).padStart(5);
}

function suffix(explanation: string | undefined): string {
  return explanation === undefined ? "" : `\n          (${explanation})`;
}
