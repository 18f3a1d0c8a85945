/** Reads the fields of indexes and manifests, which nobody has checked. */
import { isJsonObject, type JsonObject } from "@setpoint/apimachinery";
import { refusal } from "./refusal.ts";

const digestPattern = /^sha256:[0-9a-f]{64}$/;

export function isDigest(text: string): boolean {
  return digestPattern.test(text);
}

export function parseJson(content: Buffer, where: string): unknown {
  try {
    return JSON.parse(content.toString("utf8")) as unknown;
  } catch (error) {
    throw refusal(`${where}: expected JSON`, error);
  }
}

export function objectIn(value: unknown, where: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw refusal(`${where}: expected an object`);
}

export function listIn(object: JsonObject, field: string, where: string, max: number): readonly unknown[] {
  const value = object[field];
  if (Array.isArray(value) && value.length <= max) return value;
  throw refusal(`${where}.${field}: expected a list of at most ${max} entries`);
}

export function textIn(object: JsonObject, field: string, where: string): string {
  const value = object[field];
  if (typeof value === "string" && value !== "") return value;
  throw refusal(`${where}.${field}: expected a text`);
}

export function digestIn(object: JsonObject, field: string, where: string): string {
  const value = textIn(object, field, where);
  if (isDigest(value)) return value;
  throw refusal(`${where}.${field} is "${value}": expected sha256: and 64 hexadecimal digits`);
}
