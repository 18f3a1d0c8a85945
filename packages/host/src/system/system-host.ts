import type { Host } from "../host.ts";
import { createMetrics } from "../metrics-registry.ts";
import { systemLogger, type SystemLoggerOptions } from "./system-logger.ts";
import { systemClock } from "./system-clock.ts";
import { systemPacker } from "./system-packer.ts";
import { systemRandom } from "./system-random.ts";

/**
 * The real host of a process: its clock, its randomness, logs on standard error (readable on a terminal, else
 * JSON), metrics in memory.
 */
export function systemHost(options: SystemLoggerOptions = {}): Host {
  return {
    clock: systemClock,
    random: systemRandom,
    log: systemLogger(options),
    metrics: createMetrics(),
    packer: systemPacker,
  };
}
