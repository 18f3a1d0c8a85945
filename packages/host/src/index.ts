/** What a program gets from its host, as interfaces; see the package's README. */
export type { Clock, Timer } from "./clock.ts";
export type { SlowStepsOptions } from "./slow-steps.ts";
export { SlowSteps } from "./slow-steps.ts";
export { TimeSlices } from "./time-slices.ts";
export { microTimestamp, nextTurn, sleep, timestamp, timestampAt } from "./clock.ts";
export type { BytePacker } from "./byte-packer.ts";
export type { Host } from "./host.ts";
export type { LogFields, Logger, LogLevel } from "./logger.ts";
export { silentLogger } from "./logger.ts";
export type { Counter, Gauge, Histogram, MetricLabels, Metrics } from "./metrics.ts";
export { noMetrics } from "./metrics.ts";
export { metricsWith } from "./metrics-with.ts";
export type { OpenTelemetryApi } from "./open-telemetry-tracer.ts";
export { openTelemetryTracer } from "./open-telemetry-tracer.ts";
export type { Random } from "./random.ts";
export { formatUuid, randomSuffix } from "./random.ts";
export type { Span, SpanAttributes, SpanOptions, Tracer } from "./tracer.ts";
