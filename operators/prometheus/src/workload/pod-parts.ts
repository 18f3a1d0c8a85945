/** Parts of pods that all servers have; pure. */
import type { PodSpec } from "setpoint/kinds";
import { given } from "../generate/generation.ts";
import type { Version } from "../generate/version.ts";
import type { PodFields } from "../kind/pod-fields.ts";
import type { Container } from "./merge-containers.ts";

type Mount = NonNullable<Container["volumeMounts"]>[number];

/** The fields of a pod that users set for the whole of it. */
export function placement(spec: PodFields): Partial<PodSpec> {
  const { hostNetwork = false } = spec;
  const dnsPolicy = spec.dnsPolicy ?? (hostNetwork ? "ClusterFirstWithHostNet" : undefined);
  const fields: { readonly [Name in keyof PodSpec]?: PodSpec[Name] | undefined } = {
    securityContext: spec.securityContext,
    nodeSelector: spec.nodeSelector,
    schedulerName: given(spec.schedulerName),
    priorityClassName: given(spec.priorityClassName),
    affinity: spec.affinity,
    tolerations: spec.tolerations,
    topologySpreadConstraints: spec.topologySpreadConstraints,
    hostAliases: spec.hostAliases,
    hostNetwork: hostNetwork ? true : undefined,
    hostUsers: spec.hostUsers,
    enableServiceLinks: spec.enableServiceLinks,
    imagePullSecrets: spec.imagePullSecrets,
    dnsPolicy,
    dnsConfig: spec.dnsConfig,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Its own field, then the parts that older manifests name. */
export function serverImage(spec: PodFields, repository: string, version: Version): string {
  const image = given(spec.image);
  if (image !== undefined) return image;
  const base = given(spec.baseImage) ?? repository;
  if (given(spec.sha) !== undefined) return `${base}@sha256:${spec.sha ?? ""}`;
  return `${base}:${given(spec.tag) ?? `v${version.text}`}`;
}

export function readOnly(name: string, mountPath: string): Mount {
  return { name, mountPath, readOnly: true };
}
