/** Whether the object of a body is of the kind that its URL names. */
import {
  ApiError,
  apiVersionOf,
  type FieldError,
  failure,
  invalid,
  isJsonObject,
  type JsonObject,
  parseApiVersion,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import { badRequest } from "../response/api-errors.ts";
import { invalidValue } from "./field-errors.ts";
import type { ResourceDefinition } from "./resource-definition.ts";

/** Errors: `ApiError` 400 and 422 with upstream's messages. */
export function checkKind(
  definition: ResourceDefinition,
  body: unknown,
  isPatched: boolean,
): asserts body is UnstructuredObject {
  const { kind } = definition;
  if (!isJsonObject(body)) throw badRequest(`the object provided is unrecognized (must be of type ${kind})`);
  if (body["apiVersion"] === apiVersionOf(definition) && body["kind"] === kind) return;
  const givenKind = textAt(body, "kind");
  if (givenKind === "") throw withoutKind(kind, isPatched);
  if (definition.custom) throw ofAnotherCustomKind(definition, body, isPatched);
  throw ofAnotherKind(definition, textAt(body, "apiVersion"), givenKind);
}

function withoutKind(kind: string, isPatched: boolean): ApiError {
  if (!isPatched)
    return badRequest(`the object provided is unrecognized (must be of type ${kind}): Object 'Kind' is missing`);
  return new ApiError(failure(422, "Invalid", "the server rejected our request due to an error in our request", {}));
}

/** A patch may change them; then validation refuses the object. */
function ofAnotherCustomKind(definition: ResourceDefinition, body: JsonObject, isPatched: boolean): ApiError {
  const { group, kind } = definition;
  const apiVersion = apiVersionOf(definition);
  const given = { apiVersion: textAt(body, "apiVersion"), kind: textAt(body, "kind") };
  if (!isPatched && given.apiVersion !== apiVersion) return otherVersion(given.apiVersion, apiVersion);
  const errors: readonly FieldError[] = [
    ...(given.apiVersion === apiVersion ? [] : [invalidValue("apiVersion", given.apiVersion, `must be ${apiVersion}`)]),
    ...(given.kind === kind ? [] : [invalidValue("kind", given.kind, `must be ${kind}`)]),
  ];
  const { metadata } = body;
  return invalid({ group, kind: given.kind }, isJsonObject(metadata) ? textAt(metadata, "name") : "", errors);
}

/**
 * Go's scheme knows the type of the body, and not how to make the wanted one of it; or it does not know it.
 */
function ofAnotherKind(definition: ResourceDefinition, givenVersion: string, givenKind: string): ApiError {
  const { group, version, kind, isKind } = definition;
  const apiVersion = apiVersionOf(definition);
  const isKnown = isKind?.(givenVersion, givenKind) === true;
  if (isKnown && givenVersion !== apiVersion) return otherVersion(givenVersion, apiVersion);
  const from = parseApiVersion(givenVersion);
  const why = isKnown
    ? `converting (${version}.${givenKind}) to (${group === "" ? "core" : group.split(".")[0]}.${kind}): unknown conversion`
    : `no kind "${givenKind}" is registered for version "${givenVersion}" in scheme "pkg/runtime/scheme.go:111"`;
  return badRequest(`${givenKind} in version "${from.version}" cannot be handled as a ${kind}: ${why}`);
}

function otherVersion(given: string, expected: string): ApiError {
  return badRequest(`the API version in the data (${given}) does not match the expected API version (${expected})`);
}

function textAt(object: JsonObject, field: string): string {
  const value = object[field];
  return typeof value === "string" ? value : "";
}
