/** What the body of a request is meant to be, for the message about one that cannot be decoded. */
import type { ApiError } from "@setpoint/apimachinery";
import { badRequest } from "../response/api-errors.ts";

export type BodySubject =
  | { readonly kind: "object"; readonly of: string; readonly version: string }
  | { readonly kind: "patch" | "options" | "other" };

/** More of a body is not repeated. */
const summaryBytesMax = 30;
const openBrace = 0x7b;

/** The answer to JSON that cannot be decoded; `why` as Go says it. */
export function undecodableJson(subject: BodySubject, body: Uint8Array, why: string): ApiError {
  switch (subject.kind) {
    case "object":
      return unrecognized(subject.of, body, `couldn't get version/kind; json parse error: ${why}`);
    case "patch":
      return badRequest(`error decoding patch: ${why}`);
    case "options":
      return badRequest(`couldn't get version/kind; json parse error: ${why}`);
    default:
      return badRequest(`error decoding the body: ${why}`);
  }
}

/** The same for YAML. */
export function undecodableYaml(subject: BodySubject, body: Uint8Array, why: string): ApiError {
  return subject.kind === "object" ? unrecognized(subject.of, body, why) : badRequest(`error decoding YAML: ${why}`);
}

/** JSON of another type than an object. */
export function noObject(subject: BodySubject, body: Uint8Array, value: unknown): ApiError {
  const type = `struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
  return undecodableJson(subject, body, `json: cannot unmarshal ${goTypeOf(value)} into Go value of type ${type}`);
}

/** A patch that is no object; `doing` is what Go was about to do. */
export function noMap(doing: string, patch: unknown): ApiError {
  return badRequest(
    `${doing}: json: cannot unmarshal ${goTypeOf(patch)} into Go value of type map[string]interface {}`,
  );
}

/** The type of a JSON value as Go's decoder names it. */
function goTypeOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value === "bigint" ? "number" : value === null ? "null" : typeof value;
}

function unrecognized(kind: string, body: Uint8Array, why: string): ApiError {
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${summaryOf(body)})`);
}

function summaryOf(body: Uint8Array): string {
  if (body.length === 0) return "<empty>";
  const bytes = Buffer.from(body.subarray(0, summaryBytesMax));
  const text = body[0] === openBrace ? bytes.toString("utf8") : bytes.toString("hex");
  return body.length > summaryBytesMax ? `${text} ...` : text;
}
