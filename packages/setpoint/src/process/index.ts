/** Runs an operator as a process of its own; Node only. */
export type { OperatorProcessOptions } from "./operator-process.ts";
export { isOperator, runOperatorProcess } from "./operator-process.ts";
export type { RunOptions } from "../run-operator.ts";
export { runOperator } from "../run-operator.ts";
export { installKinds } from "./install-kinds.ts";
export { collectAfterStart } from "./collect-after-start.ts";

// a manager of one's own: several clusters, caches, tracing
export type {
  CacheOptions,
  CacheSettings,
  ClusterProvider,
  ClusterRegistry,
  KindCacheOptions,
  Manager,
  BusyKey,
  SlowedKey,
  DryRunReport,
  ManagerOptions,
} from "@setpoint/runtime";
export { cached, startManager } from "@setpoint/runtime";
export type { LeaseTimes, RunSettings } from "../run-settings.ts";
export type { Host, Tracer } from "@setpoint/host";
export { openTelemetryTracer } from "@setpoint/host";
export { systemHost } from "@setpoint/host/system";

// webhooks
export type { CertificateTimes } from "./certificate-plan.ts";
export { certificateTimes } from "./certificate-plan.ts";
export type { OperatorWebhooks, OperatorWebhooksOptions } from "./operator-webhooks.ts";
export { serveOperatorWebhooks } from "./operator-webhooks.ts";
export { webhookBodyBytesMax } from "./webhook-body.ts";

// status
export { LogLevelControl } from "./log-level.ts";
export { observeProcess } from "./process-metrics.ts";
export type { ProfileKind } from "./profiles.ts";
export { Profiler } from "./profiles.ts";
export type { AccessDecision, AccessQuestion, ReviewedAccessOptions, StatusAccess } from "./status-access.ts";
export { openAccess, reviewedAccess } from "./status-access.ts";
export type { StatusDebug, StatusServer, StatusServerOptions } from "./status-server.ts";
export { serveStatus } from "./status-server.ts";
export { deskPorts } from "../status-ports.ts";
export type { HealthReport, WhyCause, WhyQuery, WhyReport, WhyRun, WhyWrite } from "@setpoint/runtime";
