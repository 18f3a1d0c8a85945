/** Builds `ApiResponse`s: objects in the form that the client requests, errors as Status. */
import {
  ApiError,
  type ApiResponse,
  isApiError,
  type KubeList,
  type UnstructuredObject,
  messageOf,
} from "@setpoint/apimachinery";
import type { Clock, Logger } from "@setpoint/host";
import { stringify } from "yaml";
import type { AcceptedForm } from "./accepted-form.ts";
import { internalError, notAcceptable } from "./api-errors.ts";
import { partialObjectMetadata, partialObjectMetadataList } from "./partial-object-metadata.ts";
import { type IncludeObject, tableOf } from "./table.ts";
import type { PresentedKind } from "./table-column.ts";
import type { Warnings } from "./warnings.ts";

export type Headers = Readonly<Record<string, string>>;

const jsonHeaders: Headers = Object.freeze({ "content-type": "application/json" });
const encoder = new TextEncoder();

export function headersWith(warnings: Warnings | undefined): Headers {
  const warning = warnings?.header();
  return warning === undefined ? jsonHeaders : { ...jsonHeaders, warning };
}

export function respond(status: number, object: unknown, headers: Headers, isYaml = false): ApiResponse {
  if (!isYaml) return { kind: "object", status, headers, object };
  // Clients read YAML 1.1, in which a bare y is a boolean; an object that occurs twice is written twice.
  const text = stringify(object, { version: "1.1", aliasDuplicateObjects: false, lineWidth: 0 });
  return textResponse(status, text, { ...headers, "content-type": "application/yaml" });
}

export function textResponse(status: number, text: string, headers: Headers): ApiResponse {
  return { kind: "bytes", status, headers, bytes: oneChunk(encoder.encode(text)) };
}

/** For paths that the server does not serve. */
export function pageNotFound(): ApiResponse {
  const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  return textResponse(404, "404 page not found\n", headers);
}

/** Any error as a Status; what is no answer of the API is a bug, which is logged and answered as 500. */
export function errorResponse(error: unknown, log: Logger, path: string, warnings?: Warnings): ApiResponse {
  const answer = isApiError(error) ? error : unexpected(error, log, path);
  const { status } = answer;
  const retry = status.details?.retryAfterSeconds;
  const headers = headersWith(warnings);
  const withRetry = retry === undefined ? headers : { ...headers, "retry-after": String(retry) };
  return { kind: "object", status: answer.code, headers: withRetry, object: status };
}

function unexpected(error: unknown, log: Logger, path: string): ApiError {
  log.error("Request failed unexpectedly", { path, error });
  return internalError(messageOf(error));
}

/** The response form of one request. */
export interface Presentation {
  readonly definition: PresentedKind;
  readonly form: AcceptedForm;
  readonly include: IncludeObject;
  readonly clock: Clock;
}

export function presentObject(presentation: Presentation, object: UnstructuredObject): object {
  const { definition, form, include, clock } = presentation;
  if (form.as === "Object") return object;
  if (form.as === "PartialObjectMetadata") return partialObjectMetadata(object);
  if (form.as === "PartialObjectMetadataList") throw notAcceptable(["application/json", "application/yaml"]);
  const { resourceVersion = "" } = object.metadata;
  return tableOf(definition, [object], { resourceVersion }, include, clock.now());
}

export function presentList(presentation: Presentation, list: KubeList): object {
  const { definition, form, include, clock } = presentation;
  if (form.as === "Object")
    return definition.custom
      ? { ...list, metadata: { continue: "", ...list.metadata } }
      : { ...list, items: list.items.map(withoutType) };
  if (form.as === "Table") return tableOf(definition, list.items, list.metadata, include, clock.now());
  return partialObjectMetadataList(list);
}

/**
 * Upstream's lists of built-in kinds say the type once, for all items; those of custom ones always have
 * `continue`.
 */
function withoutType({ kind: _kind, apiVersion: _apiVersion, ...rest }: UnstructuredObject): object {
  return rest;
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
