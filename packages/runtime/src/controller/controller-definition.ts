import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { AnyConditionProtocol } from "./condition-protocol.ts";
import type { ReconcileContext } from "./reconcile-context.ts";
import type { ObjectMetrics } from "./object-metrics.ts";
import type { WriteLimits } from "./write-limits.ts";
import type { Priority } from "../queue/priority.ts";
import type { RateLimit } from "../queue/rate-limiter.ts";
import type { OwnedSelection } from "./owned-selection.ts";
import type { PureForm } from "./pure-form.ts";
import type { Result } from "./result.ts";
import type { StepMemory } from "./step-memory.ts";
import type { Daemon } from "./daemon.ts";
import type { Source } from "./source.ts";
import type { Selection, WatchDefinition } from "./watch-definition.ts";

/** `steps`: what the controller remembers of the plan of this object. */
export type ReconcileFunction = (
  this: void,
  object: Stored<KubeObject>,
  context: ReconcileContext,
  steps: StepMemory,
) => Promise<Result | void>;

/** A controller as data: made by `controller()`, run by `startManager()`. */
export interface ControllerDefinition {
  /** The name in metrics, logs, events and leases; default: the kind in lower case. */
  readonly name: string;
  /** The name in events, where it is another one. */
  readonly eventSource?: string;
  readonly kind: KindRef;
  readonly select: Selection;
  readonly owns: readonly KindRef[];
  /** Those of the owned kinds that are owned in part. */
  readonly ownedSelections?: readonly OwnedSelection[];
  readonly watches: readonly WatchDefinition[];
  /** How many keys are reconciled at the same time. */
  readonly concurrency: number;
  readonly fieldManager: string;
  /**
   * The finalizer's name when there is a `cleanup`. It also identifies an old finalizer of this controller.
   */
  readonly finalizer: string;
  readonly hasCleanup: boolean;
  /** Whether runs may keep a ledger in an annotation of the object. */
  readonly keepsLedger: boolean;
  /** The declared conditions of the kind. */
  readonly health?: AnyConditionProtocol;
  /** Whether `reconcile` also gets objects that are being deleted. */
  readonly reconcileDeleting: boolean;
  /** What enqueues keys besides the watches of kinds. */
  readonly sources?: readonly Source[];
  /** The flow of an object. Flows take turns; default: the namespace. */
  readonly fairness?: (object: Stored<KubeObject>) => string;
  /** The priority of a change; default "normal", and "low" for the first list. */
  readonly priority?: (object: Stored<KubeObject>) => Priority;
  readonly rateLimit?: RateLimit;
  /** How long a run may take before its signal aborts. */
  readonly timeoutMs?: number;
  /** The resync period of a key. */
  readonly maxReconcileIntervalMs?: number;
  /** Functions that run beside each object. */
  readonly daemons?: Readonly<Record<string, Daemon>>;
  readonly limits?: WriteLimits;
  /** Gauges of each object. */
  readonly objectMetrics?: ObjectMetrics;
  /** The function of a controller of the pure form, for a host other than the manager. */
  readonly pure?: PureForm;
  /** Whether a change of the reconciled object enqueues its key. */
  predicate(this: void, old: Stored<KubeObject>, next: Stored<KubeObject>): boolean;
  readonly reconcile: ReconcileFunction;
  readonly cleanup: ReconcileFunction;
  /** Runs instead of `cleanup` when the kind's definition is being deleted; only for kinds that own data. */
  readonly releaseData?: ReconcileFunction;
}
