/** A PostgresPooler as its cluster sees it. */
export interface PoolerOfCluster {
  readonly name: string;
  /** Whether clients of it may write: they wait while the primary changes. */
  readonly holdsWriters: boolean;
  /** The term of the next primary for which all its clients wait. */
  readonly pausedFor?: string | undefined;
}
