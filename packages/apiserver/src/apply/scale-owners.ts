/**
 * The owners of a parent's replicas after a write to its Scale. Conflicts are computed on the Scale itself.
 */
import type { ManagedFieldsEntry, UnstructuredObject } from "@setpoint/apimachinery";
import type { StructuralSchema } from "@setpoint/schema";
import { applyPatch } from "./apply-patch.ts";
import { parentEntriesAfterScale, scaleEntriesOf } from "./scale-entries.ts";
import { trackUpdate } from "./track-update.ts";

export interface ScaleWrite {
  readonly parent: UnstructuredObject;
  /** The parent's Scale before the write. */
  readonly live: UnstructuredObject;
  /** Where the parent has its replicas: `.spec.replicas`. */
  readonly specReplicasPath: string;
  readonly manager: string;
  /** Now, RFC 3339 in seconds. */
  readonly time: string;
}

const integer: StructuralSchema = { type: "integer" };
const scaleSchema: StructuralSchema = {
  type: "object",
  properties: {
    spec: { type: "object", properties: { replicas: integer } },
    status: { type: "object", properties: { replicas: integer, selector: { type: "string" } } },
  },
};

const ofScale = { schema: scaleSchema, apiVersion: "autoscaling/v1", kind: "Scale", subresource: "scale" } as const;

/** The Scale after an apply, and the parent's managers. Errors: those of `applyPatch`. */
export function applyToScale(
  write: ScaleWrite,
  patch: UnstructuredObject,
  force: boolean,
): { readonly object: UnstructuredObject; readonly managedFields: readonly ManagedFieldsEntry[] } {
  const { manager, time } = write;
  const { object, managedFields } = applyPatch({ ...ofScale, live: withOwners(write), patch, manager, force, time });
  return { object, managedFields: parentManagers(write, managedFields) };
}

/** The parent's managers after a PUT or a patch that made this Scale. */
export function scaleManagers(write: ScaleWrite, scale: UnstructuredObject): readonly ManagedFieldsEntry[] {
  const { manager, time } = write;
  const live = withOwners(write);
  // A Scale has no managedFields of its own, so clients cannot change owners through it.
  const { managedFields } = live.metadata;
  const { managedFields: _, ...metadata } = scale.metadata;
  const owned = managedFields === undefined ? metadata : { ...metadata, managedFields };
  const object = { ...scale, metadata: owned };
  return parentManagers(write, trackUpdate({ ...ofScale, live, object, manager, time }));
}

function withOwners({ parent, live, specReplicasPath }: ScaleWrite): UnstructuredObject {
  const managedFields = scaleEntriesOf(parent.metadata.managedFields, specReplicasPath);
  return { ...live, metadata: { ...live.metadata, managedFields } };
}

function parentManagers(
  { parent, specReplicasPath }: ScaleWrite,
  scale: readonly ManagedFieldsEntry[],
): readonly ManagedFieldsEntry[] {
  const { apiVersion, metadata } = parent;
  return parentEntriesAfterScale({ parent: metadata.managedFields, scale, specReplicasPath, apiVersion });
}
