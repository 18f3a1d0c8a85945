/** Runs controllers against any Kubernetes API; see the package's README. */

// declaring controllers
export { controller, watching } from "./controller/controller.ts";
export type {
  CacheReader,
  ControllerDefinition,
  Selection,
  WatchDefinition,
} from "./controller/controller-definition.ts";
export type {
  ActionHandlers,
  ControllerOptions,
  Desired,
  DesiredOptions,
  OwnedKinds,
  OwnedObjects,
  PlannedOptions,
  ReconcileOptions,
  StepFacts,
} from "./controller/controller-options.ts";

// inside a reconcile
export type { ConditionInit, DeleteOptions, ListOptions, ReconcileContext } from "./controller/reconcile-context.ts";
export type { Result } from "./controller/result.ts";
export { awaitChange, minutes, requeueAfter, seconds } from "./controller/result.ts";
export type { Act, Rest, Step, Wait } from "./controller/step.ts";
export { act, rest, wait } from "./controller/step.ts";
export type { WriteOutcome } from "./controller/outcome.ts";
export { outcome } from "./controller/outcome.ts";

// errors
export { isTerminalError, TerminalError } from "./errors.ts";

// running controllers
export type {
  HealthCheck,
  HealthReport,
  LeaderElectionOptions,
  Manager,
  ManagerOptions,
} from "./manager/manager-options.ts";
export { startManager } from "./manager/start-manager.ts";

// caches and queues, for what is not a controller
export { Informer } from "./cache/informer.ts";
export type { InformerHandler, InformerOptions, Transform } from "./cache/informer.ts";
export { InformerFactory } from "./cache/informer-factory.ts";
export { compareResourceVersions } from "./cache/resource-version.ts";
export type { IndexFunction } from "./cache/store.ts";
export { controllerOf, ownerIndex, Store, storeKey } from "./cache/store.ts";
export type { WorkQueueOptions } from "./queue/work-queue.ts";
export { WorkQueue } from "./queue/work-queue.ts";
export { LeaderElector } from "./leader/leader-elector.ts";
