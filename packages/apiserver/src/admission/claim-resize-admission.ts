/** A claim grows only when its class lets volumes grow. Validation has refused one that is not bound. */
import type { AdmissionPlugin, AdmissionRequest } from "../registry/admission-plugin.ts";
import { quantityNanos } from "../registry/builtin/canonical-quantity.ts";
import { objectAt, stringAt, textOf, valueAt } from "../registry/json-fields.ts";
import type { UnstructuredObject } from "@setpoint/apimachinery";
import { forbiddenByAdmission } from "./namespace-lifecycle.ts";

const notResizable =
  "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";

/** As upstream's plugin of this name. */
export const claimResizeAdmission: AdmissionPlugin = {
  name: "PersistentVolumeClaimResize",
  async validate(request) {
    const { operation, definition, subresource, object, old } = request;
    const isClaim = definition.group === "" && definition.resource === "persistentvolumeclaims";
    if (!isClaim || operation !== "UPDATE" || subresource !== "") return;
    if (object === undefined || old === undefined || requested(object) <= requested(old)) return;
    if (!mayGrow(request, object) || !mayGrow(request, old)) throw forbiddenByAdmission(request, notResizable);
  },
};

function requested(claim: UnstructuredObject): bigint {
  return quantityNanos(textOf(valueAt(objectAt(claim, "spec"), "resources", "requests", "storage") ?? "0")) ?? 0n;
}

function mayGrow({ reader }: AdmissionRequest, claim: UnstructuredObject): boolean {
  const name = stringAt(objectAt(claim, "spec"), "storageClassName");
  const found = name === "" ? undefined : reader.get("storage.k8s.io", "storageclasses", "", name);
  return found?.["allowVolumeExpansion"] === true;
}
