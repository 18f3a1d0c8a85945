/** What starts a reconcile besides the watches of kinds, which changes count, and what runs beside it. */

// which changes count
export type { Predicate } from "@setpoint/runtime";
export { allOf, annotationsChanged, anyOf, changed, generationChanged, labelsChanged, not } from "@setpoint/runtime";

// sources
export type { CronOptions, IterableOptions, PushSource, Source } from "@setpoint/runtime";
export { cron, every, fromIterable, nextCronRun, pushSource } from "@setpoint/runtime";

// handlers of fields, timers and daemons
export type { Daemon, DaemonContext, FieldChange, FieldHandler, TimerOptions } from "@setpoint/runtime";
export { onChange, timer } from "@setpoint/runtime";

// limits of a controller
export type { ObjectMetrics, Priority, RateLimit, WriteLimits } from "@setpoint/runtime";

// plans as lists of rules
export type { PlanRule } from "@setpoint/runtime";
export { planByRules } from "@setpoint/runtime";
