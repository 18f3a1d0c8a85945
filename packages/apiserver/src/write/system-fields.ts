/**
 * The fields that a client cannot set: the server's metadata, and the parts that other endpoints write.
 */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import { timestamp } from "@setpoint/host";
import type { MutableMeta, MutableObject } from "../registry/mutable-object.ts";
import type { RegistryContext } from "../registry/registry-context.ts";
import { hasStatus, type ResourceDefinition } from "../registry/resource-definition.ts";
import { plainError } from "../response/api-errors.ts";

/** Of a new object. */
export function setSystemFields(
  context: RegistryContext,
  definition: ResourceDefinition,
  object: MutableObject,
  namespace: string,
): void {
  const { metadata } = object;
  if (!["", "0"].includes(metadata.resourceVersion ?? ""))
    throw plainError("resourceVersion should not be set on objects to be created");
  delete metadata.resourceVersion;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
  metadata.uid = context.host.random.uuid();
  metadata.creationTimestamp = timestamp(context.host.clock);
  if (definition.namespaced) metadata.namespace = namespace;
  else delete metadata.namespace;
}

const serverFields = [
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "generation",
  "selfLink",
  "resourceVersion",
] as const;

/** Of a changed object: the server's metadata stays as it is stored. */
export function keepSystemFields(object: MutableObject, old: UnstructuredObject): void {
  const metadata: Record<string, unknown> = object.metadata;
  for (const field of serverFields) {
    const value = old.metadata[field];
    // Validation refuses a write that marks an object deleted or changes its grace period.
    const isRefused = field === "deletionGracePeriodSeconds" || (field === "deletionTimestamp" && value === undefined);
    if (isRefused && (metadata[field] ?? undefined) !== undefined) continue;
    if (value === undefined) delete metadata[field];
    else metadata[field] = value;
  }
  if ((object.metadata.namespace ?? "") === "" && old.metadata.namespace !== undefined) {
    object.metadata.namespace = old.metadata.namespace;
  }
  if ((object.metadata.name ?? "") === "" && old.metadata.name !== undefined) object.metadata.name = old.metadata.name;
}

/**
 * The status endpoint writes the status, the main resource everything else; what an endpoint does not write
 * stays.
 */
export function withOthersPartsOf(
  old: UnstructuredObject,
  object: MutableObject,
  definition: ResourceDefinition,
  subresource: string,
): MutableObject {
  if (subresource === "status") {
    const metadata = definition.custom ? ownMetadata(old, object.metadata) : object.metadata;
    return withStatus({ ...old, metadata }, object["status"]);
  }
  if ((subresource === "" || subresource === "scale") && hasStatus(definition))
    return withStatus(object, old["status"]);
  return object;
}

/** Of a custom object the status endpoint writes no metadata but managedFields. */
function ownMetadata(old: UnstructuredObject, { managedFields }: MutableMeta): MutableMeta {
  return managedFields === undefined ? { ...old.metadata } : { ...old.metadata, managedFields };
}

function withStatus(object: MutableObject, status: unknown): MutableObject {
  if (status === undefined) delete object["status"];
  else object["status"] = status;
  return object;
}
