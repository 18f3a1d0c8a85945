/**
 * Creates the objects that every cluster contains. It never changes existing ones, so it runs at every start.
 */
import { apiVersionOf, cloneJson, SetpointError, type UnstructuredObject } from "@setpoint/apimachinery";
import { type Clock, type Random, timestamp } from "@setpoint/host";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { storageKey } from "../registry/object-key.ts";
import type { Storage } from "../storage/storage.ts";
import { builtinResources } from "../registry/builtin/builtin-resources.ts";
import { isJsonObject, type JsonObject, objectAt, stringAt } from "../registry/json-fields.ts";
import { objectsAtStart, type StartOptions } from "./start-objects.ts";

/** The parts of a server that `bootstrap` writes with. */
export interface BootstrapTarget {
  readonly storage: Storage;
  readonly host: { readonly clock: Clock; readonly random: Random };
}

/**
 * Creates what is missing, all at once, so that a store with group commit needs one commit. Resolves to how
 * many it created.
 */
export async function bootstrap(target: BootstrapTarget, options: StartOptions = {}): Promise<number> {
  const writes = objectsAtStart(options).flatMap(({ path, objects }) => {
    const definition = definitionOf(path);
    return objects.map((object) => createIfMissing(target, definition, object));
  });
  return (await Promise.all(writes)).filter(Boolean).length;
}

function definitionOf(path: string): ResourceDefinition {
  const [first = "", ...rest] = path.slice(1).split("/");
  const [group, version, resource] = first === "api" ? ["", ...rest] : rest;
  const found = builtinResources().find(
    (each) => each.group === group && each.version === version && each.resource === resource,
  );
  if (found === undefined)
    throw new SetpointError(
      "ERR_BOOTSTRAP",
      `Cannot bootstrap ${JSON.stringify(path)}: no built-in resource has this path`,
    );
  return found;
}

async function createIfMissing(
  { storage, host }: BootstrapTarget,
  definition: ResourceDefinition,
  object: JsonObject,
): Promise<boolean> {
  const key = storageKey(definition, stringAt(object, "metadata", "namespace"), stringAt(object, "metadata", "name"));
  if (storage.get(key) !== undefined) return false;
  const { changed } = await storage.write(key, (current) =>
    current === undefined ? complete(object, definition, host) : "keep",
  );
  return changed;
}

function complete(
  object: JsonObject,
  definition: ResourceDefinition,
  { clock, random }: BootstrapTarget["host"],
): UnstructuredObject {
  const now = timestamp(clock);
  const generation = definition.strategy.tracksGeneration === true ? { generation: 1 } : {};
  const metadata = { ...objectAt(object, "metadata"), uid: random.uuid(), creationTimestamp: now, ...generation };
  const completed = {
    apiVersion: apiVersionOf(definition),
    kind: definition.kind,
    ...cloneJson(object),
    metadata,
  };
  // Conditions in the data carry the time of the server that they were taken from.
  for (const condition of conditionsOf(completed)) condition["lastTransitionTime"] = now;
  return completed;
}

function conditionsOf(object: JsonObject): readonly JsonObject[] {
  const { conditions } = objectAt(object, "status");
  return Array.isArray(conditions) ? conditions.filter(isJsonObject) : [];
}
