/** Converts a request's objects to the version of a webhook, and back. */
import { apiVersionOf, cloneJson, deepEqual, type UnstructuredObject } from "@setpoint/apimachinery";
import { decode, isDecodeError } from "@setpoint/schema";
import type { MutableObject } from "../registry/mutable-object.ts";
import { fillDefaults, refreshObject } from "../registry/object-codec.ts";
import type { Registry } from "../registry/registry.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { internalError } from "../response/api-errors.ts";

export interface VersionConverter {
  /** The object itself when both versions are the same, else a copy. */
  convert<T extends UnstructuredObject | undefined>(
    from: ResourceDefinition,
    to: ResourceDefinition,
    object: T,
  ): Promise<T | UnstructuredObject>;
  /** What a webhook made of an object: checked like a request's, with its defaults. */
  decode(definition: ResourceDefinition, value: unknown): MutableObject;
}

export const versionConverter: VersionConverter = {
  async convert(from, to, object) {
    if (object === undefined || from === to) return object;
    const converter = to.converter ?? from.converter;
    if (converter === undefined) return convertBuiltin(from, to, object);
    const [converted = object] = await converter.convert([object], apiVersionOf(to));
    return refreshObject(to, converted);
  },
  decode(definition, value) {
    try {
      const decoded = decode(definition.schema, value, {
        unknown: "prune",
        wrongTypes: definition.custom ? "keep" : "throw",
      });
      // A patch of an object is an object still, or `decode` has thrown.
      return fillDefaults(definition, decoded.value as MutableObject);
    } catch (error) {
      throw isDecodeError(error) ? internalError(error.message) : error;
    }
  },
};

function convertBuiltin(
  from: ResourceDefinition,
  to: ResourceDefinition,
  object: UnstructuredObject,
): UnstructuredObject {
  const copy = cloneJson(object);
  const stored = from.convert?.toStored(copy) ?? copy;
  const shown = to.convert?.fromStored(stored) ?? stored;
  const converted = { ...shown, apiVersion: apiVersionOf(to), kind: to.kind };
  return to.custom ? refreshObject(to, converted) : converted;
}

/** The other served versions of the same objects. */
export function equivalentsIn(registry: Registry): (definition: ResourceDefinition) => readonly ResourceDefinition[] {
  let indexed: readonly ResourceDefinition[] | undefined;
  let byPrefix = new Map<string, readonly ResourceDefinition[]>();
  return (definition) => {
    if (registry.definitions !== indexed) {
      indexed = registry.definitions;
      byPrefix = Map.groupBy(indexed, (each) => each.storagePrefix);
    }
    return (byPrefix.get(definition.storagePrefix) ?? []).filter((each) => each !== definition);
  };
}

/** Makes `target` equal to `source`, in place, because others hold it; returns whether that changed it. */
export function replaceContent(target: UnstructuredObject, source: UnstructuredObject): boolean {
  if (target === source || deepEqual(target, source)) return false;
  // The registry's own copy, which is mutable until it is stored.
  const object = target as unknown as Record<string, unknown>;
  for (const key of Object.keys(object)) if (!(key in source)) delete object[key];
  Object.assign(object, source);
  return true;
}
