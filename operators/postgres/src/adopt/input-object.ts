/** The objects of manifests, as the kinds of CloudNativePG have them. */
import { Fields, InputRefused, isObject, type JsonObject } from "./fields.ts";

export const cnpgGroup = "postgresql.cnpg.io";
const cnpgVersion = `${cnpgGroup}/v1`;

export interface InputObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  /** Such as `Cluster "shop/orders"`. */
  readonly label: string;
  readonly metadata: Fields;
  readonly spec: Fields;
  /** All of it. */
  readonly value: JsonObject;
}

/** Of one document; a List is its items. Throws `InputRefused`. */
export function inputObjects(value: unknown): readonly InputObject[] {
  if (!isObject(value)) throw InputRefused.at("the document", ".", "an object of Kubernetes", value);
  const { kind, apiVersion, items } = value;
  if (Array.isArray(items)) return items.flatMap(inputObjects);
  if (typeof kind !== "string") throw InputRefused.at("the document", "kind", "text", kind);
  if (typeof apiVersion !== "string") throw InputRefused.at(`a ${kind}`, "apiVersion", "text", apiVersion);
  return [inputObject(kind, apiVersion, value)];
}

function inputObject(kind: string, apiVersion: string, value: JsonObject): InputObject {
  const given = Fields.of(`a ${kind}`, "metadata", value["metadata"]);
  const name = given.requiredText("name");
  const namespace = given.text("namespace");
  const label = `${kind} "${namespace === undefined ? name : `${namespace}/${name}`}"`;
  if (apiVersion.startsWith(`${cnpgGroup}/`) && apiVersion !== cnpgVersion)
    throw InputRefused.at(label, "apiVersion", cnpgVersion, apiVersion);
  return {
    ...{ apiVersion, kind, name, label, value },
    ...(namespace === undefined ? {} : { namespace }),
    metadata: Fields.of(label, "metadata", value["metadata"]),
    spec: Fields.of(label, "spec", value["spec"]),
  };
}

export function isOfCnpg({ apiVersion }: InputObject): boolean {
  return apiVersion === cnpgVersion;
}

/** The cluster that an object beside it is about. */
export function clusterNameOf({ spec }: InputObject): string {
  return spec.fields("cluster").requiredText("name");
}

/** For commands of kubectl. */
export function namespaceFlag({ namespace }: InputObject): string {
  return namespace === undefined ? "" : ` -n ${namespace}`;
}
