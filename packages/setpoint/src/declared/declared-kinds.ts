/**
 * Kinds that are known without a server: the built-in ones, and those whose CustomResourceDefinitions are at
 * hand.
 */
import * as builtin from "@setpoint/api";
import { isJsonObject, SetpointError, type JsonObject, type KubeObject } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import { errCompositeController, type KindFinder } from "./composite-controller.ts";

/** A kind of a definition, which is installed with the operator. */
interface DefinedKind extends KindRef {
  readonly schema: unknown;
  readonly hasStatus: boolean;
  crd(): KubeObject;
}

export class DeclaredKinds implements KindFinder {
  readonly #byName = new Map<string, KindRef>();

  constructor(definitions: readonly JsonObject[]) {
    for (const kind of [...builtinKinds(), ...definitions.flatMap(kindsOf)]) {
      const name = kind.group === "" ? kind.plural : `${kind.plural}.${kind.version}.${kind.group}`;
      this.#byName.set(name, kind);
    }
  }

  find(name: string): KindRef {
    const found = this.#byName.get(name);
    if (found !== undefined) return found;
    const wanted = "give its CustomResourceDefinition in the same file, or `kind` and `namespaced` beside `resource`";
    throw new SetpointError(
      errCompositeController,
      `Cannot find resource "${name}": it is not built in, and no definition of it is given; ${wanted}`,
    );
  }
}

function builtinKinds(): readonly KindRef[] {
  return Object.values<unknown>(builtin).filter(isKind);
}

function isKind(value: unknown): value is KindRef {
  return typeof value === "function" && "plural" in value && "version" in value;
}

/** One kind for each version that is served. */
function kindsOf(definition: JsonObject): readonly DefinedKind[] {
  const spec = fieldsOf(definition["spec"]);
  const { kind, plural } = fieldsOf(spec["names"]);
  const { group, scope, versions } = spec;
  if (typeof group !== "string" || typeof kind !== "string" || typeof plural !== "string" || !Array.isArray(versions))
    throw new SetpointError(
      errCompositeController,
      `Cannot use CustomResourceDefinition "${String(fieldsOf(definition["metadata"])["name"])}": its group, names or versions are missing`,
    );
  return versions
    .map(fieldsOf)
    .filter((version) => version["served"] === true)
    .map((version) => ({
      group,
      kind,
      plural,
      version: String(version["name"]),
      namespaced: scope !== "Cluster",
      schema: fieldsOf(version["schema"])["openAPIV3Schema"] ?? {},
      hasStatus: isJsonObject(fieldsOf(version["subresources"])["status"]),
      // A definition by its fields, checked above; the rest is the server's to check.
      crd: () => definition as unknown as KubeObject,
    }));
}

function fieldsOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
