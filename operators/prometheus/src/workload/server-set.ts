/** The heads of the objects that keep the pods of a server; pure. */
import { type PodSpec, StatefulSet } from "setpoint/kinds";
import type { Version } from "../generate/version.ts";
import type { PodFields } from "../kind/pod-fields.ts";
import { claimTemplates } from "./data-volume.ts";

type Labels = Readonly<Record<string, string>>;
type Template = NonNullable<StatefulSet["spec"]>["template"];

/** A workload of any kind. */
export interface ServerOwner {
  readonly metadata: { readonly name?: string; readonly namespace?: string; readonly labels?: Labels };
  readonly spec: PodFields;
}

export interface ServerPods {
  readonly owner: ServerOwner;
  readonly version: Version;
  /** The container that kubectl means when nobody names one. */
  readonly container: string;
  /** The labels by which the pods are known. */
  readonly selector: Labels;
  /** Others of the pods. */
  readonly podLabels?: Labels;
  readonly pod: PodSpec;
}

export interface ServerSet extends ServerPods {
  readonly name: string;
  readonly labels: Labels;
  readonly service: string;
  readonly replicas: number;
  /** The name of the volume with the data, unless the claim has one. */
  readonly volume: string;
}

export function serverStatefulSet(set: ServerSet): StatefulSet {
  const { metadata, spec } = set.owner;
  const claims = claimTemplates(spec.storage, set.volume);
  const { persistentVolumeClaimRetentionPolicy: retention } = spec;
  return StatefulSet({
    name: set.name,
    namespace: metadata.namespace ?? "",
    labels: { ...metadata.labels, ...set.labels },
    spec: {
      serviceName: spec.serviceName ?? set.service,
      replicas: set.replicas,
      podManagementPolicy: spec.podManagementPolicy ?? "Parallel",
      updateStrategy: { type: "RollingUpdate", ...spec.updateStrategy },
      ...minReady(spec),
      selector: { matchLabels: set.selector },
      template: podTemplate(set),
      ...(claims.length === 0 ? {} : { volumeClaimTemplates: claims }),
      ...(retention === undefined ? {} : { persistentVolumeClaimRetentionPolicy: { ...retention } }),
    },
  });
}

export function minReady({ minReadySeconds }: PodFields): { readonly minReadySeconds?: number } {
  return minReadySeconds === undefined ? {} : { minReadySeconds };
}

export function podTemplate({ owner, version, container, selector, podLabels, pod }: ServerPods): Template {
  const { podMetadata } = owner.spec;
  return {
    metadata: {
      labels: { "app.kubernetes.io/version": version.text, ...podMetadata?.labels, ...selector, ...podLabels },
      annotations: { "kubectl.kubernetes.io/default-container": container, ...podMetadata?.annotations },
    },
    spec: pod,
  };
}
