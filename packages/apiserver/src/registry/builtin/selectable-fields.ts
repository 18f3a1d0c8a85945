/** Field selectors of the built-in kinds beyond metadata.name and metadata.namespace. */
import { lookupTable } from "@setpoint/apimachinery";
import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { ResourceDefinition } from "../resource-definition.ts";
import { valueAt, textOf } from "../json-fields.ts";

type Selectable = ResourceDefinition["selectableFields"];

/**
 * The value at a dotted path as the text that a selector compares with; absent is the zero of the field's
 * type.
 */
function field(path: string, zero = ""): (object: UnstructuredObject) => string {
  const steps = path.split(".");
  return (object) => {
    const value = valueAt(object, ...steps);
    return value === undefined || value === null ? zero : textOf(value);
  };
}

function texts(...paths: readonly string[]): Selectable {
  return Object.fromEntries(paths.map((path) => [path, field(path)]));
}

const referenceFields = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];

const podFields: Selectable = {
  ...texts("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName"),
  ...texts("status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName"),
  "spec.hostNetwork": field("spec.hostNetwork", "false"),
  "spec.host": field("spec.nodeName"),
};

const coreEventFields: Selectable = {
  ...texts(...referenceFields.map((each) => `involvedObject.${each}`), "reason", "type"),
  reportingComponent: field("reportingComponent"),
  // Old writers fill source.component, new ones reportingComponent; a selector finds both.
  source: (event) => field("source.component")(event) || field("reportingComponent")(event),
};

const eventFields: Selectable = {
  ...texts(...referenceFields.map((each) => `regarding.${each}`), "reason", "type"),
  reportingController: field("reportingController"),
};

const table: Readonly<Record<string, Selectable>> = lookupTable({
  "/Pod": podFields,
  "/Node": { "spec.unschedulable": field("spec.unschedulable", "false") },
  "/ReplicationController": { "status.replicas": field("status.replicas", "0") },
  "/Event": coreEventFields,
  "events.k8s.io/Event": eventFields,
  "/Namespace": texts("status.phase"),
  "/Secret": texts("type"),
  "/Service": texts("spec.clusterIP", "spec.type"),
  "batch/Job": { "status.successful": field("status.succeeded", "0") },
  "certificates.k8s.io/CertificateSigningRequest": texts("spec.signerName"),
  "resource.k8s.io/ResourceSlice": texts("spec.nodeName", "spec.driver"),
});

const none: Selectable = {};

export function selectableFieldsFor(group: string, kind: string): Selectable {
  return table[`${group}/${kind}`] ?? none;
}
