import type { KubeObject } from "@setpoint/apimachinery";
import { manifestsYaml, objectYaml } from "./manifests-yaml.ts";

/**
 * The files of a Kustomize base, text by name: one file a kind of object, and the list of them in the order
 * to apply.
 */
export function kustomizeFiles(objects: readonly KubeObject[]): ReadonlyMap<string, string> {
  const byFile = Map.groupBy(objects, ({ kind }) => fileNames.get(kind) ?? `${kind.toLowerCase()}.yaml`);
  const kustomization = {
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    resources: [...byFile.keys()],
  };
  const files = [...byFile].map(([file, those]) => [file, manifestsYaml(those)] as const);
  return new Map([...files, ["kustomization.yaml", objectYaml(kustomization)]]);
}

const fileNames: ReadonlyMap<string, string> = new Map([
  ["CustomResourceDefinition", "crds.yaml"],
  ["ServiceAccount", "rbac.yaml"],
  ["ClusterRole", "rbac.yaml"],
  ["ClusterRoleBinding", "rbac.yaml"],
  ["Role", "rbac.yaml"],
  ["RoleBinding", "rbac.yaml"],
]);
