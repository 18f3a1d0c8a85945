/** What the endpoints of built-in kinds need from the server, and their responses. */
import { ApiError, type ApiResponse, failure, type UnstructuredObject } from "@setpoint/apimachinery";
import type { Clock } from "@setpoint/host";
import type { ObjectReader } from "../registry/object-reader.ts";
import type { Storage, StorageKey } from "../storage/storage.ts";

/** The parts of a server that the endpoints of built-in kinds use. */
export interface EndpointServer {
  readonly storage: Storage;
  readonly reader: ObjectReader;
  readonly host: { readonly clock: Clock };
}

const headers = { "content-type": "application/json" };

function answer(status: number, object: unknown): ApiResponse {
  return { kind: "object", status, headers, object };
}

/** The 201 of an endpoint that has nothing to show. */
export function createdStatus(): ApiResponse {
  return answer(201, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 });
}

export function podKey(namespace: string, name: string): StorageKey {
  return { prefix: "/pods", path: `${namespace}/${name}` };
}

/** 404 of a core resource. */
export function missing(resource: string, name: string): ApiError {
  return new ApiError(
    failure(404, "NotFound", `${resource} ${JSON.stringify(name)} not found`, { name, kind: resource }),
  );
}

/** 409 with the message of a failed update. */
export function conflicting(resource: string, name: string, why: string): ApiError {
  const message = `Operation cannot be fulfilled on ${resource} ${JSON.stringify(name)}: ${why}`;
  return new ApiError(failure(409, "Conflict", message, { name, kind: resource }));
}

/** Rejects the request when its preconditions are for another object of the same name. */
export function checkIdentity(
  resource: string,
  object: UnstructuredObject,
  wanted: { readonly uid?: unknown; readonly resourceVersion?: unknown },
): void {
  const { uid, resourceVersion } = object.metadata;
  const name = object.metadata.name ?? "";
  if (typeof wanted.uid === "string" && wanted.uid !== "" && wanted.uid !== uid) {
    throw conflicting(
      resource,
      name,
      `Precondition failed: UID in precondition: ${wanted.uid}, UID in object meta: ${uid ?? ""}`,
    );
  }
  if (
    typeof wanted.resourceVersion === "string" &&
    wanted.resourceVersion !== "" &&
    wanted.resourceVersion !== resourceVersion
  ) {
    throw conflicting(
      resource,
      name,
      "the object has been modified; please apply your changes to the latest version and try again",
    );
  }
}

/** Whether the request is a dry run. */
export function isDryRun(query: Readonly<Record<string, string | readonly string[]>> | undefined): boolean {
  const value = query?.["dryRun"];
  return value === "All" || (Array.isArray(value) && value.includes("All"));
}
