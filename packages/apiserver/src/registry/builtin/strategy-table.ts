/** The strategy of every built-in kind: flags by list, behaviour by group, and what all kinds share. */
import { lookupTable } from "@setpoint/apimachinery";
import type { FieldError, UnstructuredObject } from "@setpoint/apimachinery";
import type { Strategy, WriteContext } from "../resource-definition.ts";
import { openApiSchemas } from "./api-data.ts";
import { appsStrategies } from "./apps-strategies.ts";
import { batchStrategies } from "./batch-strategies.ts";
import { coreStrategies } from "./core-strategies.ts";
import { encodeAsGo } from "./go-encoding.ts";
import { ensureObject, type JsonObject } from "../json-fields.ts";
import { warningsFor } from "./kind-warnings.ts";
import type { KindStrategy } from "./kind-strategy.ts";
import { otherStrategies } from "./other-strategies.ts";
import { rbacStrategies } from "./rbac-strategies.ts";

const tracked: ReadonlySet<string> = new Set(
  "Pod Deployment ReplicaSet StatefulSet DaemonSet ReplicationController Job CronJob Ingress IngressClass NetworkPolicy PodDisruptionBudget EndpointSlice PodTemplate PriorityClass MutatingWebhookConfiguration ValidatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding MutatingAdmissionPolicy MutatingAdmissionPolicyBinding CustomResourceDefinition FlowSchema PriorityLevelConfiguration ResourceSlice DeviceClass".split(
    " ",
  ),
);

const createdByUpdate: ReadonlySet<string> = new Set(
  "Lease Endpoints Event LimitRange Service RuntimeClass Role RoleBinding ClusterRole ClusterRoleBinding".split(" "),
);

const needsResourceVersion: ReadonlySet<string> = new Set(
  "CustomResourceDefinition MutatingWebhookConfiguration ValidatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding MutatingAdmissionPolicy MutatingAdmissionPolicyBinding Lease PodDisruptionBudget APIService RuntimeClass CSIDriver CSINode CSIStorageCapacity VolumeAttachment".split(
    " ",
  ),
);

/** Kinds whose deletion answers the object (registries with ReturnDeletedObject). */
const answersDeleted: ReadonlySet<string> = new Set(
  "Namespace Pod PersistentVolume PersistentVolumeClaim PodTemplate ServiceAccount Service ResourceQuota".split(" "),
);

const pathSegmentNames: ReadonlySet<string> = new Set("Role RoleBinding ClusterRole ClusterRoleBinding".split(" "));

const byKind: Readonly<Record<string, KindStrategy>> = lookupTable({
  ...coreStrategies,
  ...appsStrategies,
  ...batchStrategies,
  ...rbacStrategies,
  ...otherStrategies,
});

/** `component` is the OpenAPI component of the kind, by which objects get the traces of Go's encoding. */
export function strategyFor(group: string, version: string, kind: string, component: string | undefined): Strategy {
  const own = byKind[`${group}/${kind}`] ?? {};
  const warnings = warningsFor(group, kind);
  const { defaults, ...rest } = own;
  const hasStatus = component !== undefined && openApiSchemas()[component]?.properties?.["status"] !== undefined;
  return {
    ...(pathSegmentNames.has(kind) ? { nameRule: "pathSegment" as const } : {}),
    ...(kind === "IPAddress" ? { nameRule: "address" as const } : {}),
    tracksGeneration: tracked.has(kind),
    allowsCreateOnUpdate: createdByUpdate.has(kind),
    allowsUnconditionalUpdate: !needsResourceVersion.has(kind),
    returnsDeletedObject: answersDeleted.has(kind),
    ...(warnings === undefined ? {} : { warnings }),
    ...rest,
    setDefaults(object: UnstructuredObject): void {
      const json: JsonObject = object as unknown as JsonObject;
      if (component !== undefined) encodeAsGo(component, json);
      defaults?.(json);
    },
    prepareForCreate(object: UnstructuredObject, context: WriteContext): void {
      const json: JsonObject = object as unknown as JsonObject;
      // The registry has wiped the status; what Go writes for an empty one comes back.
      if (hasStatus) ensureObject(json, "status");
      rest.prepareForCreate?.(object, context);
      if (component !== undefined) encodeAsGo(component, json);
    },
    validate(
      object: UnstructuredObject,
      old: UnstructuredObject | undefined,
      context: WriteContext,
    ): readonly FieldError[] {
      return rest.validate?.(object, old, context) ?? [];
    },
  };
}
