/** The objects of manifests, as the kinds of CloudNativePG have them. */
import { Fields, InputRefused, isObject, type JsonObject } from "./fields.ts";

export const cnpgGroup = "postgresql.cnpg.io";
const cnpgVersion = `${cnpgGroup}/v1`;
/** The plugin of Barman has one kind of its own. */
const barmanVersion = "barmancloud.cnpg.io/v1";

export interface InputObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Its own, or that of the current context. */
  readonly namespace?: string;
  /** Where what is written goes, which is the same without another wish. */
  readonly target?: string;
  /** Such as `Cluster "shop/orders"`. */
  readonly label: string;
  readonly metadata: Fields;
  readonly spec: Fields;
  /** All of it. */
  readonly value: JsonObject;
}

/** Of one document; a List is its items. `target` is another namespace. Throws `InputRefused`. */
export function inputObjects(value: unknown, target?: string): readonly InputObject[] {
  if (!isObject(value)) throw InputRefused.at("the document", ".", "an object of Kubernetes", value);
  const { kind, apiVersion, items } = value;
  if (Array.isArray(items)) return items.flatMap((item) => inputObjects(item, target));
  if (typeof kind !== "string") throw InputRefused.at("the document", "kind", "text", kind);
  if (typeof apiVersion !== "string") throw InputRefused.at(`a ${kind}`, "apiVersion", "text", apiVersion);
  return [inputObject(kind, apiVersion, value, target)];
}

function inputObject(kind: string, apiVersion: string, value: JsonObject, target: string | undefined): InputObject {
  const given = Fields.of(`a ${kind}`, "metadata", value["metadata"]);
  const name = given.requiredText("name");
  const namespace = given.text("namespace");
  const label = `${kind} "${namespace === undefined ? name : `${namespace}/${name}`}"`;
  if (apiVersion.startsWith(`${cnpgGroup}/`) && apiVersion !== cnpgVersion)
    throw InputRefused.at(label, "apiVersion", cnpgVersion, apiVersion);
  return {
    ...{ apiVersion, kind, name, label, value },
    ...(namespace === undefined ? {} : { namespace, target: namespace }),
    ...(target === undefined ? {} : { target }),
    metadata: Fields.of(label, "metadata", value["metadata"]),
    spec: Fields.of(label, "spec", value["spec"]),
  };
}

export function isOfCnpg({ apiVersion, kind }: InputObject): boolean {
  return apiVersion === cnpgVersion || (apiVersion === barmanVersion && kind === "ObjectStore");
}

/** The cluster that an object beside it is about. */
export function clusterNameOf({ spec }: InputObject): string {
  return spec.fields("cluster").requiredText("name");
}

/** For commands of kubectl about what is written. */
export function targetFlag({ target }: InputObject): string {
  return target === undefined ? "" : ` -n ${target}`;
}

/** For commands of kubectl about what CloudNativePG has. */
export function sourceFlag({ namespace }: InputObject): string {
  return namespace === undefined ? "" : ` -n ${namespace}`;
}

/** Whether what is written goes to another namespace. */
export function isMoved({ namespace = "default", target = namespace }: InputObject): boolean {
  return namespace !== target;
}
