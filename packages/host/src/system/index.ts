/** The real host. */
export { systemClock } from "./system-clock.ts";
export { systemRandom } from "./system-random.ts";
export type { SystemLoggerOptions } from "./system-logger.ts";
export { systemLogger } from "./system-logger.ts";
export type { StallWatchdogOptions } from "./stall-watchdog.ts";
export { startStallWatchdog } from "./stall-watchdog.ts";
export { systemHost } from "./system-host.ts";
export { writeStandardError } from "./standard-error.ts";
export { createMetrics } from "../metrics-registry.ts";
