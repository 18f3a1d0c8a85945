/** What an engine brings to its acceptance tests. */
import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "setpoint";
import type { EngineControl, Rights, SnapshotSource } from "../engine/control.ts";

/** A change of the spec, as a merge patch. */
export interface SpecChange {
  /** Such as "grow to 3 members". */
  readonly title: string;
  readonly spec: object;
}

/** What an engine brings to its acceptance tests. The checks themselves are the same for all engines. */
export interface EngineAcceptance<Instance extends KubeObject> {
  readonly engine: EngineControl<Instance>;
  /** A small instance, of this version where one is given. Its data are deleted with it. */
  instance(name: string, namespace: string, version?: string): Instance;
  /**
   * Changes that the instance must follow, one after another, without a loss of data. With a version it keeps
   * that one.
   */
  changes(version?: string): readonly SpecChange[];
  /**
   * Why no new instance may have this version; undefined when one may. Absent when the engine has no versions
   * to choose from.
   */
  versionRefusal?(version: string, nowMs: number): string | undefined;
  /** What the instance still waits for until it is as its spec says; undefined when nothing is left. */
  unsettled(instance: Stored<Instance>): string | undefined;
  /** The pod whose loss hurts most: that of the leader. */
  victim(instance: Stored<Instance>): string | undefined;
  /** How clients reach the instance while its members come and go; the engine's `source` when absent. */
  clients?(instance: Stored<Instance>): SnapshotSource;
  /** The kinds of what the operator creates for an instance. It must be allowed to list them. */
  readonly creates: readonly KindRef[];
  /** What the login of the check `binding` may do, so that it can write keys below `setpoint-acceptance/`. */
  readonly bindingRights?: Rights;
}

/**
 * The same without the type of the instances. The checks pass an instance to the engine that it is of, and to
 * no other.
 */
export type AnyAcceptance = EngineAcceptance<KubeObject>;
