/**
 * The objects that a plan has pretended to write: what they were, what was done to them, what they would be.
 */
import {
  createMergePatch,
  deepEqual,
  isJsonObject,
  mergePatch,
  type JsonObject,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import type { ResourceRequest } from "./resource-request.ts";

/** Which object; the version of the API does not count. */
export type ObjectPlace = Pick<ResourceRequest, "group" | "resource" | "namespace" | "name">;

/** An object as the server has it, and as it would be after the pretended writes. */
export interface PretendedObject {
  readonly place: ObjectPlace;
  /** As the server has it; undefined: it does not exist there. */
  base: UnstructuredObject | undefined;
  /** What the deltas are on top of: `base`, or what was created; undefined when it is gone. */
  start: UnstructuredObject | undefined;
  /** As the server would have it; undefined: it would be gone. */
  object: UnstructuredObject | undefined;
  /** When it was last pretended to change, in the world's revisions. */
  revision: string;
  /** What was done, by who did it: a second apply of one manager replaces its first. */
  readonly deltas: Map<string, JsonObject>;
  /** Who created it, in the words of `deltas`, when it is not on the server. */
  creator: string;
}

export class PretendedObjects {
  readonly #objects = new Map<string, PretendedObject>();

  get(place: ObjectPlace): PretendedObject | undefined {
    return this.#objects.get(keyOf(place));
  }

  set(entry: PretendedObject): void {
    this.#objects.set(keyOf(entry.place), entry);
  }

  /** Those of a collection; an empty namespace means all. */
  of({ group, resource, namespace }: Omit<ObjectPlace, "name">): readonly PretendedObject[] {
    return [...this.#objects.values()].filter(
      ({ place }) =>
        place.group === group && place.resource === resource && (namespace === "" || place.namespace === namespace),
    );
  }

  all(): readonly PretendedObject[] {
    return [...this.#objects.values()];
  }
}

function keyOf({ group, resource, namespace, name }: ObjectPlace): string {
  return `${group}/${resource}/${namespace}/${name}`;
}

/** The server's object with everything that was pretended on top of it. */
export function withDeltas(base: UnstructuredObject, deltas: ReadonlyMap<string, JsonObject>): UnstructuredObject {
  let object: unknown = base;
  for (const delta of deltas.values()) object = mergePatch(object, delta);
  // A merge patch of an object, made from objects of the same kind, is one.
  return object as UnstructuredObject;
}

/** What makes `after` of `before`, without what changes by itself. */
export function deltaOf(before: UnstructuredObject, after: UnstructuredObject): JsonObject {
  return createMergePatch(content(before), content(after));
}

/** Whether a write changes anything but who owns which field. */
export function isSameContent(before: UnstructuredObject, after: UnstructuredObject): boolean {
  return deepEqual(content(before), content(after));
}

/** An object without its bookkeeping: revision and field ownership. */
export function content(object: UnstructuredObject): JsonObject {
  const { resourceVersion: _revision, managedFields: _fields, ...metadata } = object.metadata;
  return { ...(object as JsonObject), metadata };
}

/** What a changed object's generation is: it counts changes of what is wanted, not of status and metadata. */
export function withGeneration(before: UnstructuredObject, after: UnstructuredObject): UnstructuredObject {
  if (before.metadata.generation === undefined) return after;
  const generation = before.metadata.generation + (deepEqual(wanted(before), wanted(after)) ? 0 : 1);
  return { ...after, metadata: { ...after.metadata, generation } };
}

function wanted(object: UnstructuredObject): JsonObject {
  const { metadata: _metadata, status: _status, ...rest } = object as JsonObject;
  return rest;
}

/** An object with another resourceVersion. */
export function withRevision(object: UnstructuredObject, resourceVersion: string | undefined): UnstructuredObject {
  return resourceVersion === undefined ? object : { ...object, metadata: { ...object.metadata, resourceVersion } };
}

/** The parsing border: what the API answers for an object has metadata. */
export function asObject(value: unknown): UnstructuredObject | undefined {
  return isJsonObject(value) && isJsonObject(value["metadata"]) ? (value as unknown as UnstructuredObject) : undefined;
}
