/** Kinds of a server that serves only what is listed here. */
import type { ResourceDefinition } from "@setpoint/apiserver";
import type { KindRef } from "@setpoint/client";

const namespaced = (group: string, kind: string, plural: string): KindRef => ({
  ...{ group, version: "v1", kind, plural },
  namespaced: true,
});

export const Event: KindRef = namespaced("events.k8s.io", "Event", "events");
export const Lease: KindRef = namespaced("coordination.k8s.io", "Lease", "leases");

export const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true } as const;

/** `status` is the schema of the kind's subresource of this name, where it has one. */
export function served(kind: KindRef, status?: NonNullable<ResourceDefinition["schema"]>): ResourceDefinition {
  const { group, version, plural, kind: name } = kind;
  const hasStatus = status !== undefined;
  const subresource = { name: "status", kind: { group, version, kind: name }, verbs: ["get", "update", "patch"] };
  return {
    ...{ group, version, kind: name, resource: plural, namespaced: true },
    ...{ listKind: `${name}List`, singular: name.toLowerCase() },
    verbs: ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"],
    ...{ shortNames: [], categories: [], columns: [], selectableFields: {}, custom: true, storageVersion: version },
    subresources: hasStatus ? [subresource] : [],
    schema: {
      properties: {
        ...{ apiVersion: { type: "string" }, kind: { type: "string" }, metadata: { type: "object" } },
        ...(hasStatus ? { status } : {}),
      },
      ...anything,
    },
    strategy: hasStatus ? { tracksGeneration: true } : {},
    storagePrefix: `/${group}/${plural}`,
  };
}
