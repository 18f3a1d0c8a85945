/** Mutants that no test can notice, and why. */

export interface ExplainedSurvivor {
  /** The end of the file's path. */
  readonly file: string;
  /** As the report prints it. */
  readonly change: string;
  readonly why: string;
}

export const explainedSurvivors: readonly ExplainedSurvivor[] = [];
