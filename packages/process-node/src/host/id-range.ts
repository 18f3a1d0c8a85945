/**
 * A range of ids of a user namespace and where it lies for the tools that make containers: on the host when
 * they are root's.
 */
export interface IdRange {
  readonly container: number;
  readonly host: number;
  readonly size: number;
}

/** The user and group ids of a pod. */
export interface PodIds {
  readonly uids: IdRange;
  readonly gids: IdRange;
}
