/** Warns when the policies of a namespace have no effect, because the pod network connects all pods. */
import type { AdmissionPlugin } from "../registry/admission-plugin.ts";

/**
 * For servers whose pod network does not enforce NetworkPolicies: a policy that is only stored protects
 * nobody.
 */
export const networkPolicyWarning: AdmissionPlugin = {
  name: "NetworkPolicyWarning",
  async validate(request) {
    const { definition, operation, subresource } = request;
    if (definition.resource !== "networkpolicies" || definition.group !== "networking.k8s.io" || subresource !== "")
      return;
    if (operation === "CREATE" || operation === "UPDATE")
      request.warn("NetworkPolicy is not enforced in this cluster: its pod network connects all pods");
  },
};
