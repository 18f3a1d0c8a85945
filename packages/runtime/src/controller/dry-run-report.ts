/** Receives what a dry run cannot show as a write. */
export interface DryRunReport {
  /** What a run was about to change outside of the API; the run ends there. */
  changesOutside(this: void, what: string): void;
  /** What did not answer, and what the run uses instead; without `instead` the run ends there. */
  cannotReach(this: void, what: string, instead: string | undefined): void;
}
