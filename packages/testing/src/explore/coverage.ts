/** Which cells (site × fault) were visited. */
import { type FaultKind, faultNames } from "../faults/fault.ts";

/** How many places a story has for one kind of fault, and what the runs there showed. */
export interface KindCoverage {
  readonly kind: FaultKind;
  readonly cells: number;
  readonly visited: number;
  /** Cells whose fault did strike; a run that goes another way may not reach its site. */
  readonly struck: number;
  readonly failed: number;
}

/** The coverage of one story, by kind of fault. */
export interface StoryCoverage {
  readonly story: string;
  readonly kinds: readonly KindCoverage[];
}

/** The sums over all stories and kinds of faults. */
export function coverageOf(coverage: readonly StoryCoverage[]): { readonly cells: number; readonly visited: number } {
  const kinds = coverage.flatMap(({ kinds }) => kinds);
  return {
    cells: kinds.reduce((sum, { cells }) => sum + cells, 0),
    visited: kinds.reduce((sum, { visited }) => sum + visited, 0),
  };
}

/** A table for a person. */
export function coverageTable(coverage: readonly StoryCoverage[]): string {
  return coverage
    .flatMap(({ story, kinds }) => [
      story,
      ...kinds.map(({ kind, cells, visited, struck, failed }) => {
        const share = cells === 0 ? 100 : Math.floor((visited / cells) * 100);
        const counts = `${visited}/${cells} cells ${`${share}`.padStart(3)} %, ${struck} struck, ${failed} failed`;
        return `  ${kind.padEnd(4)}${faultNames[kind].padEnd(44)}${counts}`;
      }),
    ])
    .join("\n");
}
