/**
 * The flags that say how an operator runs, for `setpoint run` and for the Deployment of `setpoint manifests`.
 */
import { SetpointError } from "@setpoint/apimachinery";
import type { OperatorProcessOptions } from "setpoint/process";
import { parseNumber, usageError } from "./command.ts";

export const runFlags = {
  namespace: { type: "string", multiple: true },
  "log-level": { type: "string" },
  port: { type: "string" },
  "metrics-port": { type: "string" },
  "lease-duration": { type: "string" },
} as const;

export const runFlagsUsage =
  "[--log-level debug|info|warn|error] [--port N] [--metrics-port N] [--lease-duration SECONDS]";

/** The values of the flags, as `parseArgs` returns them. */
export interface RunFlags {
  readonly "log-level"?: string;
  readonly port?: string;
  readonly "metrics-port"?: string;
  readonly "lease-duration"?: string;
}

const logLevels = ["debug", "info", "warn", "error"] as const;
type LogLevel = (typeof logLevels)[number];

export interface ParsedRunFlags {
  readonly logLevel?: LogLevel;
  readonly port?: number;
  readonly metricsPort?: number;
  readonly leaseDurationSeconds?: number;
}

const portMax = 65_535;
/**
 * A shorter lease would be lost by one slow answer; a longer one would leave a crashed operator unreplaced
 * for an hour.
 */
const leaseSecondsMin = 5;
const leaseSecondsMax = 3_600;

export function parseRunFlags(flags: RunFlags): ParsedRunFlags {
  const { port, "log-level": level, "metrics-port": metricsPort, "lease-duration": lease } = flags;
  return {
    ...(level === undefined ? {} : { logLevel: parseLevel(level) }),
    ...(port === undefined ? {} : { port: parseNumber("port", port, 0, portMax) }),
    ...(metricsPort === undefined ? {} : { metricsPort: parseNumber("metrics-port", metricsPort, 0, portMax) }),
    ...(lease === undefined ? {} : { leaseDurationSeconds: parseLease(lease) }),
  };
}

function parseLease(text: string): number {
  const seconds = parseNumber("lease-duration", text, 0, leaseSecondsMax);
  if (seconds >= leaseSecondsMin) return seconds;
  const expected = `expected ${leaseSecondsMin} to ${leaseSecondsMax} seconds`;
  throw new SetpointError(usageError, `Cannot use --lease-duration ${text}: ${expected}`);
}

function parseLevel(text: string): LogLevel {
  const level = logLevels.find((each) => each === text);
  if (level !== undefined) return level;
  throw new SetpointError(usageError, `Cannot use --log-level ${text}: expected one of ${logLevels.join(", ")}`);
}

/** All times of a lease, in the proportions of the defaults: 15, 10 and 2 seconds. */
export function leaseTimes(duration: number | undefined): Pick<OperatorProcessOptions, "lease"> {
  if (duration === undefined) return {};
  const lease = {
    leaseDurationSeconds: duration,
    renewDeadlineSeconds: Math.floor((duration * 2) / 3),
    retryPeriodSeconds: Math.max(1, Math.floor((duration * 2) / 15)),
  };
  return { lease };
}
