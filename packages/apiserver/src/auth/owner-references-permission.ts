/**
 * OwnerReferencesPermissionEnforcement: a user that blocks the deletion of an owner must be allowed to set
 * its finalizers.
 */
import { type OwnerReference, parseApiVersion, type UnstructuredObject } from "@setpoint/apimachinery";
import type { AdmissionPlugin, AdmissionRequest } from "../registry/admission-plugin.ts";
import type { Authorizer } from "../request/request-attributes.ts";
import type { Registry } from "../registry/registry.ts";
import { forbiddenStatus } from "./forbidden-message.ts";

/**
 * Upstream has this plugin and leaves it off; OpenShift turns it on. An operator that passes here passes on
 * both.
 */
export function createOwnerReferencesPlugin(authorizer: Authorizer, registry: Registry): AdmissionPlugin {
  return {
    name: "OwnerReferencesPermissionEnforcement",
    async validate(request) {
      const { object, old, operation } = request;
      if (object === undefined || (operation !== "CREATE" && operation !== "UPDATE")) return;
      // Nearly every update leaves the owners as they are.
      if (object.metadata.ownerReferences === old?.metadata.ownerReferences) return;
      const before = blockingOwners(old);
      for (const owner of blockingOwners(object)) {
        const wasThere = before.some(({ uid }) => uid === owner.uid);
        if (wasThere || maySetFinalizers(authorizer, registry, request, owner)) continue;
        const { group, resource } = request.definition;
        const message =
          "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>";
        throw forbiddenStatus({ group, resource, name: object.metadata.name ?? "" }, message);
      }
    },
  };
}

const nobody: readonly OwnerReference[] = [];

function blockingOwners(object: UnstructuredObject | undefined): readonly OwnerReference[] {
  return object?.metadata.ownerReferences?.filter((owner) => owner.blockOwnerDeletion === true) ?? nobody;
}

function maySetFinalizers(
  authorizer: Authorizer,
  registry: Registry,
  { user, namespace }: AdmissionRequest,
  owner: OwnerReference,
): boolean {
  const { group, version } = parseApiVersion(owner.apiVersion);
  const definition = registry.findKind(group, version, owner.kind);
  // A reference cannot block the deletion of an owner whose kind is not served.
  if (definition === undefined) return true;
  const target = { group, version, resource: definition.resource, subresource: "finalizers", name: owner.name };
  const where = definition.namespaced ? namespace : "";
  return authorizer.authorize({ user, verb: "update", isResourceRequest: true, path: "", namespace: where, ...target })
    .allowed;
}
