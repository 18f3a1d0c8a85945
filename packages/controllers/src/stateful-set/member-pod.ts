/** A pod of a StatefulSet and its claims. */
import { PersistentVolumeClaim, Pod, type PodTemplateSpec, type StatefulSet } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { revisionHashLabel } from "../revisions/template-history.ts";
import { ordinalOf, type SeenClaims } from "./seen.ts";

type PodSpec = NonNullable<PodTemplateSpec["spec"]>;

/** `<template>-<set>-<ordinal>`. */
function claimName(set: StatefulSet, template: PersistentVolumeClaim, ordinal: number): string {
  return `${template.metadata.name}-${set.metadata.name}-${ordinal}`;
}

/** Whether a claim of this name belongs to an ordinal of the set. */
export function isClaimOf(set: StatefulSet, name: string): boolean {
  return (set.spec?.volumeClaimTemplates ?? []).some(
    (template) => ordinalOf(`${template.metadata.name}-${set.metadata.name}`, name) !== undefined,
  );
}

/** The state of the claims of these ordinals, as `find` shows them. */
export function seeClaims(
  set: Stored<StatefulSet>,
  ordinals: readonly number[],
  find: (name: string) => Stored<PersistentVolumeClaim> | undefined,
): SeenClaims {
  const found = ordinals.map((ordinal) => ({
    ordinal,
    claims: claimsOf(set, ordinal).map(({ metadata }) => find(metadata.name ?? "")),
  }));
  const having = (matches: (claim: Stored<PersistentVolumeClaim> | undefined) => boolean): ReadonlySet<number> =>
    new Set(found.filter(({ claims }) => claims.some(matches)).map(({ ordinal }) => ordinal));
  return {
    ending: having((claim) => claim?.metadata.deletionTimestamp !== undefined),
    missing: having((claim) => claim === undefined),
  };
}

/** The claims of an ordinal, one for each claim template. */
export function claimsOf(set: Stored<StatefulSet>, ordinal: number): readonly PersistentVolumeClaim[] {
  return (set.spec?.volumeClaimTemplates ?? []).map((template) =>
    PersistentVolumeClaim({
      name: claimName(set, template, ordinal),
      namespace: set.metadata.namespace ?? "",
      labels: { ...template.metadata.labels, ...set.spec?.selector.matchLabels },
      annotations: template.metadata.annotations ?? {},
      spec: template.spec ?? {},
    }),
  );
}

/** The pod of an ordinal, by the template of the revision `revision`. */
export function memberPod(set: Stored<StatefulSet>, ordinal: number, revision: string, template: PodTemplateSpec): Pod {
  const name = `${set.metadata.name}-${ordinal}`;
  if (template.spec === undefined) throw new Error(`StatefulSet "${set.metadata.name}" has a template without a spec`);
  return Pod({
    name,
    namespace: set.metadata.namespace ?? "",
    labels: {
      ...template.metadata?.labels,
      "statefulset.kubernetes.io/pod-name": name,
      "apps.kubernetes.io/pod-index": String(ordinal),
      [revisionHashLabel]: revision,
    },
    annotations: template.metadata?.annotations ?? {},
    finalizers: template.metadata?.finalizers ?? [],
    spec: { ...template.spec, ...identity(set, name), volumes: volumesOf(set, ordinal, template.spec) },
  });
}

function identity(set: StatefulSet, name: string): Partial<PodSpec> {
  const serviceName = set.spec?.serviceName ?? "";
  return { hostname: name, ...(serviceName === "" ? {} : { subdomain: serviceName }) };
}

/** A claim takes the place of the template's volume of the same name. */
function volumesOf(set: StatefulSet, ordinal: number, { volumes = [] }: PodSpec): NonNullable<PodSpec["volumes"]> {
  const claimed = (set.spec?.volumeClaimTemplates ?? []).map((template) => ({
    name: template.metadata.name ?? "",
    persistentVolumeClaim: { claimName: claimName(set, template, ordinal) },
  }));
  return [...volumes.filter(({ name }) => !claimed.some((each) => each.name === name)), ...claimed];
}
