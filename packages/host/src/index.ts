/** What a program gets from its host, as interfaces; see the package's README. */
export type { Clock, Timer } from "./clock.ts";
export { microTimestamp, sleep, timestamp } from "./clock.ts";
export type { Host } from "./host.ts";
export type { LogFields, Logger, LogLevel } from "./logger.ts";
export { silentLogger } from "./logger.ts";
export type { Counter, Gauge, Histogram, MetricLabels, Metrics } from "./metrics.ts";
export { noMetrics } from "./metrics.ts";
export type { Random } from "./random.ts";
export { formatUuid, randomSuffix } from "./random.ts";
