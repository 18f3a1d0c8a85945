import { PersistentVolumeClaim } from "setpoint/kinds";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { labels, schemeOf, volumeName } from "../kind/member-names.ts";

function marked({ spec }: EtcdCluster): Readonly<Record<string, string>> {
  return spec.deletionPolicy === "Retain" ? { [labels.deletionPolicy]: "Retain" } : {};
}

/** By its own template, or by its plan, which the spec as a user wrote it only names. */
export function wantsVolumes({ spec }: EtcdCluster): boolean {
  return spec.volumeClaimTemplate !== undefined || spec.plan !== undefined;
}

/** The claim of one member, as the cluster's template says; undefined for clusters on emptyDir. */
export function memberVolume(cluster: EtcdCluster, member: string): PersistentVolumeClaim | undefined {
  const template = cluster.spec.volumeClaimTemplate;
  if (template === undefined) return undefined;
  const { name = "", namespace = "", uid = "" } = cluster.metadata;
  return PersistentVolumeClaim({
    name: volumeName(member),
    namespace,
    labels: { [labels.cluster]: name, [labels.member]: member, ...marked(cluster) },
    annotations: { [labels.clusterUid]: uid, ...(schemeOf(cluster) === "https" ? { [labels.tls]: "Enabled" } : {}) },
    spec: {
      accessModes: template.accessModes,
      resources: template.resources,
      ...(template.storageClassName === undefined ? {} : { storageClassName: template.storageClassName }),
    },
  });
}
