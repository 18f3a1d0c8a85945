/** Which rules are about objects without a namespace: a Role cannot grant them. */
import type { Operator } from "../operator.ts";
import type { PolicyRule } from "../policy-rule.ts";

/** Groups whose resources all have no namespace. */
const clusterGroups: ReadonlySet<string> = new Set([
  "apiextensions.k8s.io",
  "admissionregistration.k8s.io",
  "apiregistration.k8s.io",
  "certificates.k8s.io",
  "node.k8s.io",
  "scheduling.k8s.io",
]);
const clusterResources: ReadonlySet<string> = new Set([
  ...["namespaces", "nodes", "persistentvolumes"].map((each) => `/${each}`),
  ...["storageclasses", "csidrivers", "csinodes", "volumeattachments"].map((each) => `storage.k8s.io/${each}`),
  ...["clusterroles", "clusterrolebindings"].map((each) => `rbac.authorization.k8s.io/${each}`),
  "networking.k8s.io/ingressclasses",
]);

/**
 * Those of the rules that are about objects without a namespace, as far as the operator and Kubernetes' own
 * kinds show.
 */
export function clusterScopedRules(operator: Operator, rules: readonly PolicyRule[]): readonly PolicyRule[] {
  const declared = operator.controllers
    .flatMap(({ kind, owns, watches }) => [kind, ...owns, ...watches.map(({ of }) => of)])
    .filter(({ namespaced }) => !namespaced);
  const resources = new Set([...clusterResources, ...declared.map(({ group, plural }) => `${group}/${plural}`)]);
  const isClusterScoped = ({ apiGroups = [], resources: named = [] }: PolicyRule): boolean =>
    named.length === 0 ||
    apiGroups.some(
      (group) =>
        clusterGroups.has(group) || named.some((each) => resources.has(`${group}/${each.split("/")[0] ?? ""}`)),
    );
  return rules.filter(isClusterScoped);
}
