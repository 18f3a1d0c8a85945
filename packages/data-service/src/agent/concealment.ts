/**
 * The last line of defence: no value of a mounted Secret leaves the pod, whatever a library puts into its
 * messages.
 */
import { encodeJson } from "@setpoint/apimachinery";
import type { Logger } from "@setpoint/host";
import { secretValues } from "../storage/secret-files.ts";

/** Shorter values, such as a user's name, would hit ordinary words. */
const secretLengthMin = 6;

/** Replaces secrets in text. */
export type Conceal = (text: string) => string;

/** Knows each value as it is, by its lines (keys in PEM and JSON), and in the encodings that messages use. */
export function concealmentOf(values: readonly Buffer[]): Conceal {
  const forms = new Set(values.flatMap(formsOf).filter((form) => form.length >= secretLengthMin));
  const longestFirst = [...forms].toSorted((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((result, form) => result.replaceAll(form, "(secret)"), text);
}

/** Knows the values of the Secrets that are mounted at these folders. */
export function folderConcealment(folders: readonly string[]): Conceal {
  return concealmentOf(folders.flatMap(secretValues));
}

/** A logger whose messages and fields have no secrets. */
export function concealingLogger(log: Logger, conceal: Conceal): Logger {
  const fieldsOf = (fields: object): Record<string, unknown> =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, concealed(value, conceal)]));
  const at =
    (level: "debug" | "info" | "warn" | "error") =>
    (message: string, fields: object = {}): void =>
      log[level](conceal(message), fieldsOf(fields));
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    with: (fields) => concealingLogger(log.with(fieldsOf(fields)), conceal),
  };
}

/** Errors become text: their stacks and causes repeat messages. */
function concealed(value: unknown, conceal: Conceal): unknown {
  if (value instanceof Error) return conceal(chainOf(value));
  if (typeof value === "string") return conceal(value);
  return typeof value === "object" && value !== null ? conceal(encodeJson(value)) : value;
}

function chainOf(error: Error): string {
  const own = error.stack ?? error.message;
  return error.cause instanceof Error ? `${own}\nCaused by: ${chainOf(error.cause)}` : own;
}

function formsOf(value: Buffer): readonly string[] {
  const text = value.toString("utf8").trim();
  const lines = text.split(/\r?\n|\\n/).map((line) => line.trim());
  return [text, ...lines, ...jsonStrings(text)].flatMap(encodingsOf).concat(bytesEncoded(value));
}

function encodingsOf(text: string): readonly string[] {
  return [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1), ...bytesEncoded(Buffer.from(text))];
}

function bytesEncoded(bytes: Buffer): readonly string[] {
  return bytes.length < secretLengthMin
    ? []
    : [bytes.toString("base64"), bytes.toString("base64url"), bytes.toString("hex")];
}

/** The strings in a Secret that is itself JSON, such as a service account of Google. */
function jsonStrings(text: string): readonly string[] {
  if (!text.startsWith("{")) return [];
  try {
    const values = Object.values(JSON.parse(text) as Record<string, unknown>);
    return values.filter((value) => typeof value === "string");
  } catch {
    return [];
  }
}
