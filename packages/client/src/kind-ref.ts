import type { KindNames, KubeObject } from "@setpoint/apimachinery";

/**
 * The part of a `Kind<T>` that a request needs: its names, and the type of its objects for the compiler.
 * Discovery gives these for kinds that are not known at compile time.
 */
export interface KindRef<T extends KubeObject = KubeObject> extends KindNames {
  /** Carries `T` for the compiler; never set. */
  readonly objectType?: T;
}
