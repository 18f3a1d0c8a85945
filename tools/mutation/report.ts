/** What a campaign says at its end. */
import { explainedSurvivors } from "./explained-survivors.ts";
import type { Mutant } from "./mutants.ts";
import type { Verdict } from "./test-process.ts";

export type Fates = ReadonlyMap<number, Verdict["fate"]>;

export function report(mutants: readonly Mutant[], fates: Fates): void {
  const alive = mutants.filter(({ id }) => fates.get(id) === "survived");
  const endless = mutants.filter(({ id }) => fates.get(id) === "endless");
  for (const each of endless) console.log(`endless: ${described(each)}`);
  for (const each of alive) console.log(`survived: ${described(each)}${suffix(explanationOf(each))}`);
  for (const file of new Set(mutants.map((each) => each.file))) {
    const total = mutants.filter((each) => each.file === file).length;
    const left = alive.filter((each) => each.file === file);
    console.log(`${percent(total - left.length, total)} % of ${total} killed in ${file}`);
  }
  const explained = alive.filter((each) => explanationOf(each) !== undefined).length;
  const killed = mutants.length - alive.length;
  console.log(
    `${percent(killed, mutants.length)} % of ${mutants.length} mutants killed (${endless.length} of them by a test that never ended), ` +
      `${alive.length} survived, ${explained} of them explained, ${alive.length - explained} not`,
  );
}

export function described({ file, line, change }: Mutant): string {
  return `${file}:${line}  ${change}`;
}

function percent(part: number, whole: number): string {
  return ((100 * part) / whole).toFixed(1).padStart(5);
}

function explanationOf({ file, change }: Mutant): string | undefined {
  return explainedSurvivors.find((each) => file.endsWith(each.file) && each.change === change)?.why;
}

function suffix(explanation: string | undefined): string {
  return explanation === undefined ? "" : `\n          (${explanation})`;
}
