/** The rules of ObjectMeta, which hold for every kind (apimachinery's ValidateObjectMeta). */
import { isIP } from "node:net";
import {
  deepEqual,
  type FieldError,
  type UnstructuredObject,
  validateDns1035Label,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateQualifiedName,
  validateLabelValue,
  validatePathSegment,
} from "@setpoint/apimachinery";
import { invalidValue } from "../registry/field-errors.ts";
import type { MutableMeta, MutableObject } from "../registry/mutable-object.ts";
import type { ResourceDefinition, Strategy, WriteContext } from "../registry/resource-definition.ts";

/** Bytes of all annotations of an object together. */
const annotationBytesMax = 256 * 1024;

/** Finalizers of the API itself, which carry no domain. */
const standardFinalizers: ReadonlySet<string> = new Set(["orphan", "foregroundDeletion", "kubernetes"]);

const groupsOfAnyFinalizer: ReadonlySet<string> = new Set([
  "admissionregistration.k8s.io",
  "apiextensions.k8s.io",
  "coordination.k8s.io",
]);

const nameRules: Readonly<Record<NonNullable<Strategy["nameRule"]>, (name: string) => readonly string[]>> = {
  subdomain: validateDns1123Subdomain,
  label: validateDns1123Label,
  label1035: validateDns1035Label,
  pathSegment: validatePathSegment,
  address: addressFaults,
};

/** The name of an IPAddress is the address, in the one form that it has. */
function addressFaults(name: string): readonly string[] {
  if (isIP(name) === 0 || name.includes("%")) return [`ParseAddr(${JSON.stringify(name)}): unable to parse IP`];
  const canonical = isIP(name) === 4 ? name : new URL(`http://[${name}]`).hostname.slice(1, -1);
  return canonical === name ? [] : ["must be a canonical format IP address"];
}

export function validateMetadata(
  definition: ResourceDefinition,
  object: MutableObject,
  old: UnstructuredObject | undefined,
  errors: FieldError[],
): void {
  const { metadata } = object;
  // What an update leaves as it is was valid when it came, and must not block an update when the rules grow
  // stricter.
  if (old === undefined) validateName(definition, metadata, errors);
  if (metadata.labels !== undefined && !deepEqual(metadata.labels, old?.metadata.labels))
    validateLabels(metadata, errors);
  if (metadata.annotations !== undefined && !deepEqual(metadata.annotations, old?.metadata.annotations))
    validateAnnotations(metadata, errors);
  if (metadata.ownerReferences !== undefined) validateOwners(metadata, errors);
  if (metadata.finalizers !== undefined) validateFinalizers(definition, metadata, old, errors);
  if (old !== undefined) validateImmutable(metadata, old, errors);
}

function validateName(definition: ResourceDefinition, metadata: MutableMeta, errors: FieldError[]): void {
  const { name = "", generateName = "" } = metadata;
  const rule = nameRules[definition.strategy.nameRule ?? "subdomain"];
  // A prefix may end as no name can. Upstream takes away the character before the hyphen too.
  const prefix = generateName.length > 1 && generateName.endsWith("-") ? `${generateName.slice(0, -2)}a` : generateName;
  for (const problem of generateName === "" ? [] : rule(prefix))
    errors.push(invalidValue("metadata.generateName", generateName, problem));
  const field = "metadata.name";
  if (name === "") {
    errors.push({ type: "FieldValueRequired", field, message: "Required value: name or generateName is required" });
    return;
  }
  for (const problem of rule(name)) errors.push(invalidValue(field, name, problem));
}

function validateLabels({ labels = {} }: MutableMeta, errors: FieldError[]): void {
  const field = "metadata.labels";
  for (const [key, value] of Object.entries(labels)) {
    for (const problem of validateQualifiedName(key)) errors.push(invalidValue(field, key, problem));
    for (const problem of validateLabelValue(value)) errors.push(invalidValue(field, value, problem));
  }
}

function validateAnnotations({ annotations = {} }: MutableMeta, errors: FieldError[]): void {
  const field = "metadata.annotations";
  let bytes = 0;
  for (const key in annotations) {
    const value = annotations[key] ?? "";
    // A character has at most three bytes in UTF-8 per UTF-16 unit, so small ones need no counting.
    bytes += (key.length + value.length) * 3;
    for (const problem of validateQualifiedName(key.toLowerCase())) errors.push(invalidValue(field, key, problem));
  }
  if (bytes <= annotationBytesMax) return;
  let exact = 0;
  for (const [key, value] of Object.entries(annotations)) exact += Buffer.byteLength(key) + Buffer.byteLength(value);
  if (exact > annotationBytesMax) {
    const message = `Too long: may not be more than ${annotationBytesMax} bytes`;
    errors.push({ type: "FieldValueTooLong", field, message });
  }
}

/** Requests may lack what the type has. */
function isEmpty(text: string | undefined): boolean {
  return (text ?? "") === "";
}

type OwnerReferences = NonNullable<MutableMeta["ownerReferences"]>;

function validateOwners({ ownerReferences = [] }: MutableMeta, errors: FieldError[]): void {
  let controller: string | undefined;
  // Upstream does not say which of them.
  const field = "metadata.ownerReferences";
  for (const reference of ownerReferences) {
    const { apiVersion, kind, name, uid } = reference;
    if (!hasVersion(apiVersion))
      errors.push(invalidValue(`${field}.apiVersion`, apiVersion ?? "", "version must not be empty"));
    if (isEmpty(kind)) errors.push(invalidValue(`${field}.kind`, "", "must not be empty"));
    if (isEmpty(name)) errors.push(invalidValue(`${field}.name`, "", "must not be empty"));
    if (isEmpty(uid)) errors.push(invalidValue(`${field}.uid`, "", "must not be empty"));
    if (apiVersion === "v1" && kind === "Event")
      errors.push(invalidValue(field, asGo(reference), "/v1, Kind=Event is disallowed from being an owner"));
    if (reference.controller !== true) continue;
    const found = `Only one reference can have Controller set to true. Found "true" in references for ${controller}`;
    if (controller === undefined) controller = `${kind}/${name}`;
    else errors.push(invalidValue(field, ownerReferences.map(asGo), `${found} and ${kind}/${name}`));
  }
}

/** `v1` or `GROUP/VERSION`. */
function hasVersion(apiVersion: string | undefined): boolean {
  const parts = (apiVersion ?? "").split("/");
  return parts.length <= 2 && !isEmpty(parts.at(-1));
}

/** With its fields in the order in which Go encodes them. */
function asGo({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReferences[number]): object {
  return { apiVersion, kind, name, uid, controller, blockOwnerDeletion };
}

function validateFinalizers(
  definition: ResourceDefinition,
  metadata: MutableMeta,
  old: UnstructuredObject | undefined,
  errors: FieldError[],
): void {
  const field = "metadata.finalizers";
  const finalizers = metadata.finalizers ?? [];
  for (const [index, finalizer] of finalizers.entries()) {
    const problems = validateQualifiedName(finalizer);
    for (const problem of problems) errors.push(invalidValue(field, finalizer, problem));
    if (hasOwner(finalizer) || takesAnyFinalizer(definition)) continue;
    const problem = "name is neither a standard finalizer name nor is it fully qualified";
    errors.push(invalidValue(`${field}[${index}]`, finalizer, problem));
  }
  if (finalizers.includes("orphan") && finalizers.includes("foregroundDeletion")) {
    const problem = "finalizer orphan and foregroundDeletion cannot be both set";
    errors.push({
      type: "FieldValueInvalid",
      field,
      message: `Invalid value: ${JSON.stringify(finalizers)}: ${problem}`,
    });
  }
  if (old?.metadata.deletionTimestamp === undefined) return;
  const before = new Set(old.metadata.finalizers);
  const fresh = finalizers.filter((finalizer) => !before.has(finalizer));
  if (fresh.length === 0) return;
  const found = `[]string{${fresh.map((finalizer) => JSON.stringify(finalizer)).join(", ")}}`;
  const message = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ${found}`;
  errors.push({ type: "FieldValueForbidden", field, message });
}

/** Whether the finalizer's name has a domain, or is one of upstream's own. */
function hasOwner(finalizer: string): boolean {
  return finalizer.includes("/") || standardFinalizers.has(finalizer);
}

/** Upstream checks the names of finalizers only in kinds of its older groups. */
function takesAnyFinalizer({ custom, group }: ResourceDefinition): boolean {
  return custom || groupsOfAnyFinalizer.has(group);
}

/** Custom objects may have finalizers without a domain; a client that adds one gets a warning. */
export function warnOfFinalizers(
  { custom }: ResourceDefinition,
  { metadata }: MutableObject,
  old: UnstructuredObject | undefined,
  { warn }: Pick<WriteContext, "warn">,
): void {
  if (!custom) return;
  const fresh = new Set(metadata.finalizers).difference(new Set(old?.metadata.finalizers));
  for (const finalizer of [...fresh].sort()) {
    if (hasOwner(finalizer)) continue;
    const advice =
      "prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers";
    warn(`metadata.finalizers: ${JSON.stringify(finalizer)}: ${advice}`);
  }
}

const immutableFields = ["name", "namespace", "uid", "deletionTimestamp", "deletionGracePeriodSeconds"] as const;

function validateImmutable(metadata: MutableMeta, old: UnstructuredObject, errors: FieldError[]): void {
  for (const name of immutableFields) {
    if (metadata[name] === old.metadata[name]) continue;
    errors.push(invalidValue(`metadata.${name}`, metadata[name] ?? "", "field is immutable"));
  }
}
