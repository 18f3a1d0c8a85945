import type { LogFields, LogLevel } from "../logger.ts";

/**
 * One log line as a JSON object: `time`, `level`, `message`, then the fields. Fields that JSON cannot print
 * are replaced by the reason.
 */
export function jsonLine(timeMs: number, level: LogLevel, message: string, fields: LogFields): string {
  const time = new Date(timeMs).toISOString();
  try {
    return JSON.stringify({ time, level, message, ...fields }, printable);
  } catch (error) {
    return JSON.stringify({ time, level, message, unprintable: String(error) });
  }
}

/**
 * Errors, which JSON would print as `{}`, with the chain of their causes; and what JSON cannot print at all.
 */
export function printable(_key: string, value: unknown): unknown {
  if (value instanceof Error) return describeError(value);
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  return value;
}

function describeError(error: Error): Record<string, unknown> {
  const { code } = error as { readonly code?: unknown };
  return {
    name: error.name,
    message: error.message,
    ...(code === undefined ? {} : { code }),
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(error.cause === undefined ? {} : { cause: error.cause }),
  };
}
