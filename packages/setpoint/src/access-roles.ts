/** What people may do with an operator's kinds, added to the roles that clusters have for them. */
import type { KubeObject } from "@setpoint/apimachinery";
import { ClusterRole } from "@setpoint/api";
import type { PolicyRule } from "./policy-rule.ts";

/** The parts of a CustomResourceDefinition that decide about rights. */
interface Crd extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly subresources?: { readonly status?: unknown; readonly scale?: unknown } }[];
  };
}

const reading = ["get", "list", "watch"];
const writing = ["create", "update", "patch", "delete", "deletecollection"];
const aggregated = "rbac.authorization.k8s.io/aggregate-to-";

/**
 * Two ClusterRoles: who has `view` in a namespace reads the objects of these kinds there, and who has `edit`
 * writes them too. `admin` has everything of `edit`, as Kubernetes aggregates it. Nobody but the operator
 * writes a status.
 */
export function accessRoles(
  name: string,
  labels: Readonly<Record<string, string>>,
  definitions: readonly KubeObject[],
): readonly KubeObject[] {
  // A kind makes them.
  const crds = definitions as readonly Crd[];
  if (crds.length === 0) return [];
  const role = (to: "view" | "edit", rules: readonly PolicyRule[]): KubeObject =>
    ClusterRole({ name: `${name}-${to}`, labels: { ...labels, [`${aggregated}${to}`]: "true" }, rules });
  return [
    role(
      "view",
      rulesFor(crds, (crd) => [pluralOf(crd), ...subresources(crd, "status", "scale")], reading),
    ),
    role("edit", [
      ...rulesFor(crds, (crd) => [pluralOf(crd)], writing),
      ...rulesFor(crds, (crd) => subresources(crd, "scale"), ["update", "patch"]),
    ]),
  ];
}

/** One rule a group. */
function rulesFor(
  crds: readonly Crd[],
  resourcesOf: (crd: Crd) => readonly string[],
  verbs: readonly string[],
): readonly PolicyRule[] {
  return [...Map.groupBy(crds, ({ spec }) => spec.group)]
    .map(([group, those]) => ({ apiGroups: [group], resources: those.flatMap(resourcesOf), verbs }))
    .filter(({ resources }) => resources.length > 0);
}

function pluralOf({ spec }: Crd): string {
  return spec.names.plural;
}

function subresources(crd: Crd, ...names: readonly ("status" | "scale")[]): readonly string[] {
  const present = names.filter((each) => crd.spec.versions.some((version) => version.subresources?.[each]));
  return present.map((each) => `${pluralOf(crd)}/${each}`);
}
