import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";

/** A write of a reconcile that is about to be sent. */
export interface PlannedWrite {
  readonly verb: "apply" | "create" | "patch" | "delete";
  readonly kind: KindRef;
  /** What is sent; for `patch` and `delete` the object as it was read. */
  readonly object: KubeObject;
  /** Whether it can only make an object: of what is there already it changes nothing. */
  readonly isNew: boolean;
  /** The object being reconciled. */
  readonly parent: Stored<KubeObject>;
}

/** Looks at every write of a run, status writes excepted. */
export interface WriteGuard {
  /** Before it is sent; what it throws ends the write unsent. */
  check(write: PlannedWrite): void;
  /** After the server has done it; deletions excepted. */
  written(write: PlannedWrite): void;
}
