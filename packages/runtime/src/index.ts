/** Runs controllers against any Kubernetes API; see the package's README. */

// declaring controllers
export { controller, pureController, watching } from "./controller/controller.ts";
export type {
  Asked,
  Desired,
  Finalized,
  ObjectsByKind,
  KindsByName,
  OwnedKinds,
  OwnedObjects,
  PureForm,
  RelatedSelector,
} from "./controller/pure-form.ts";
export type {
  AllNamespaces,
  CacheListOptions,
  CacheReader,
  ListFilter,
  ListOptions,
  OneNamespace,
  Selection,
  WatchDefinition,
} from "./controller/watch-definition.ts";
export type { OwnedKind, OwnedSelection } from "./controller/owned-selection.ts";
export type { ControllerDefinition } from "./controller/controller-definition.ts";
export type {
  ActionHandlers,
  ControllerOptions,
  DesiredOptions,
  PlannedOptions,
  ReconcileOptions,
  StepFacts,
} from "./controller/controller-options.ts";

// what wakes a controller
export type { Predicate } from "./controller/predicates.ts";
export {
  allOf,
  annotationsChanged,
  anyOf,
  changed,
  generationChanged,
  labelsChanged,
  not,
} from "./controller/predicates.ts";
export type { ObjectPath, ValueAt } from "./controller/field-path.ts";
export type { Source, SourcePorts } from "./controller/source.ts";
export type { KeysOf } from "./sources/source.ts";
export { keyOf } from "./sources/source.ts";
export { every } from "./sources/every.ts";
export { cron } from "./sources/cron.ts";
export type { CronOptions } from "./sources/cron-schedule.ts";
export { CronSchedule, nextCronRun } from "./sources/cron-schedule.ts";
export type { IterableOptions, OpenIterable } from "./sources/from-iterable.ts";
export { fromIterable } from "./sources/from-iterable.ts";
export type { PushSource } from "./sources/push-source.ts";
export { pushSource } from "./sources/push-source.ts";

// what runs beside a reconcile, and what limits it
export type { Daemon, DaemonContext } from "./controller/daemon.ts";
export type { FieldChange, FieldHandler } from "./controller/field-handlers.ts";
export { onChange } from "./controller/field-handlers.ts";
export type { TimerOptions } from "./handlers/timer.ts";
export { timer } from "./handlers/timer.ts";
export type { ObjectMetrics } from "./controller/object-metrics.ts";
export type { WriteLimits } from "./controller/write-limits.ts";

// inside a reconcile
export type {
  ApplyOptions,
  ApplyChildrenOptions,
  Children,
  ChildUpdate,
  ConditionInit,
  ControllerInfo,
  CreateOptions,
  DeleteOptions,
  Effect,
  PatchOptions,
  PruneOutcome,
  ReconcileContext,
  ReconcileHost,
  RecordedIntent,
  StatusInit,
  StepOptions,
} from "./controller/reconcile-context.ts";
export type { DryRunReport } from "./controller/dry-run-report.ts";
export type { Json } from "./controller/ledger.ts";
export type { PlannedWrite, WriteGuard } from "./writes/write-guard.ts";
export type { Result } from "./controller/result.ts";
export { awaitChange, minutes, requeueAfter, seconds } from "./controller/result.ts";
export type { Act, Rest, StallReason, Step, Wait } from "./controller/step.ts";
export { act, rest, wait } from "./controller/step.ts";
export type { PlanRule } from "./controller/plan-by-rules.ts";
export { planByRules } from "./controller/plan-by-rules.ts";
export type { WriteOutcome } from "./status/outcome.ts";
export { outcome } from "./status/outcome.ts";
export type { RefusalReason } from "./status/refusal.ts";
export { appliedAnnotation } from "./objects/applied-mark.ts";

// conditions
export { completeConditions, conditionsOf } from "./status/conditions.ts";
export type {
  AnyConditionProtocol,
  ConditionDeclaration,
  Polarity,
  SummarizedCondition,
} from "./controller/condition-protocol.ts";
export type { ConditionProtocol, Said } from "./status/declare-conditions.ts";
export { declareConditions } from "./status/declare-conditions.ts";

// errors
export { isTemporaryError, isTerminalError, TemporaryError, TerminalError } from "./errors.ts";

// running controllers
export type { LeaderElectionOptions, ShardingOptions } from "./coordination/lease-options.ts";
export type {
  ClusterProvider,
  ClusterRegistry,
  HealthCheck,
  HealthOptions,
  HealthReport,
  Manager,
  BusyKey,
  SlowedKey,
  ManagerOptions,
  ShardState,
} from "./manager/manager-options.ts";
export type { WhyCause, WhyQuery, WhyReport, WhyRun, WhyState, WhyWrite } from "./why/why-report.ts";
export type { ChangeKind } from "./run/run-record.ts";
export { checkControllers } from "./manager/check-manager.ts";
export { startManager } from "./manager/start-manager.ts";
export { claimUnhandledRejection, releaseHandledRejection } from "./run/context-calls.ts";

// caches and queues, for what is not a controller
export { Informer } from "./cache/informer.ts";
export type { Transform } from "./cache/checked-transform.ts";
export type { InformerOptions, ResourceEventHandler } from "./cache/informer.ts";
export { InformerFactory } from "./cache/informer-factory.ts";
export type { CacheOptions, CacheSettings, KindCacheOptions } from "./cache/cache-options.ts";
export { cached } from "./cache/cache-options.ts";
export type { SyncMethod } from "./cache/sync-plan.ts";
export { compareResourceVersions } from "./cache/resource-version.ts";
export type { ObjectVersion } from "./cache/raw/raw-object-store.ts";
export type { IndexFunction, StoreOptions } from "./cache/store.ts";
export { controllerOf, ownerIndex, Store, storeKey } from "./cache/store.ts";
export type { Priority } from "./queue/priority.ts";
export type { RateLimit } from "./queue/rate-limiter.ts";
export type { WorkQueueOptions } from "./queue/work-queue.ts";
export { WorkQueue } from "./queue/work-queue.ts";
export type { WorkersOptions } from "./run/workers.ts";
export { Workers } from "./run/workers.ts";
export { deskAnnotation, LeaderElector } from "./coordination/leader-elector.ts";

// events, for what is not a controller
export type { EventInit, EventSubject } from "./events/event-recorder.ts";
export { EventRecorder } from "./events/event-recorder.ts";

// webhooks
export type {
  AdmissionContext,
  AdmissionOperation,
  WebhookDefinition,
  WebhookInit,
  WebhookRole,
} from "./webhook/webhook-definition.ts";
export { webhooks } from "./webhook/webhook-definition.ts";
export type { ConvertibleKind } from "./webhook/answer-conversion.ts";
export { isConvertible } from "./webhook/answer-conversion.ts";
export type {
  WebhookHandler,
  WebhookHandlerOptions,
  WebhookRequest,
  WebhookResponse,
} from "./webhook/webhook-handler.ts";
export { conversionPath, createWebhookHandler, webhookPath } from "./webhook/webhook-handler.ts";
