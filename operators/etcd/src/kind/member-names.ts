/** The names of members, their volumes and addresses. */
import { randomSuffix, type ReconcileContext } from "setpoint";
import type { PersistentVolumeClaim } from "setpoint/kinds";
import type { EtcdCluster } from "./etcd-cluster.ts";

export const peerPort = 2380;
export const clientPort = 2379;
/**
 * Metrics and health without credentials; etcd serves it from its start, also while it looks for a leader.
 */
export const metricsPort = 2381;

export const labels = {
  cluster: "etcd.setpoint.dev/cluster",
  member: "etcd.setpoint.dev/member",
  /**
   * An annotation: the UID of the EtcdCluster for which a volume was created; a later cluster of that name
   * must not take it over.
   */
  clusterUid: "etcd.setpoint.dev/cluster-uid",
  /** On a volume that outlives its cluster. */
  deletionPolicy: "etcd.setpoint.dev/deletion-policy",
  /** An annotation of a member's pod: the settings of the spec that it was made with. */
  template: "etcd.setpoint.dev/template",
  /** An annotation of a member's pod: the version of its etcd, which a digest does not show. */
  version: "etcd.setpoint.dev/version",
  /** An annotation of a pod: the authorities that its process has trusted since its start. */
  trusts: "etcd.setpoint.dev/trusts",
  /** An annotation of a volume: its member has URLs with https. */
  tls: "etcd.setpoint.dev/tls",
  /** An annotation that a user sets on an EtcdCluster: a new text asks for a new authority. */
  rotate: "etcd.setpoint.dev/rotate-certificates",
  /**
   * An annotation of an EtcdCluster, and of the pods that have followed it: a new text restarts all members.
   */
  restart: "etcd.setpoint.dev/restart",
  /** An annotation of an EtcdCluster: a new text asks for a defragmentation of all members. */
  defragment: "etcd.setpoint.dev/defragment",
  /** On a volume whose member a recovery of the quorum has given up; the value names the recovery. */
  givenUp: "etcd.setpoint.dev/fenced",
} as const;

/** A name that no member has had before. No name is used twice, because etcd identifies members by name. */
export function newMemberName(cluster: string, random: ReconcileContext["host"]["random"]): string {
  return `${cluster}-${randomSuffix(random, 6)}`;
}

export function volumeName(member: string): string {
  return `data-${member}`;
}

/** The member that a volume is for. */
export function memberOfVolume(volume: string): string {
  return volume.replace(/^data-/, "");
}

/** Whether a recovery of the quorum has given up the member of a volume. */
export function isGivenUpVolume(volume: PersistentVolumeClaim | undefined): boolean {
  return volume?.metadata.labels?.[labels.givenUp] !== undefined;
}

/** The stable name of a member in the cluster's DNS; pods come and go, the name stays. */
export function memberHost(member: string, cluster: string, namespace: string): string {
  return `${member}.${cluster}.${namespace}.svc`;
}

export function peerUrl(member: string, cluster: EtcdCluster): string {
  return `${schemeOf(cluster)}://${hostIn(cluster, member)}:${peerPort}`;
}

export function clientUrl(member: string, cluster: EtcdCluster): string {
  return `${schemeOf(cluster)}://${hostIn(cluster, member)}:${clientPort}`;
}

function hostIn({ metadata: { name = "", namespace = "" } }: EtcdCluster, member: string): string {
  return memberHost(member, name, namespace);
}

/** By the mode that an observation has put into the spec. */
export function schemeOf({ spec }: EtcdCluster): "http" | "https" {
  return spec.tls?.mode === "Enabled" ? "https" : "http";
}

/**
 * The member that a peer URL belongs to; a member that was added but has not started has no name in etcd's
 * list.
 */
export function memberOfPeerUrl(url: string): string | undefined {
  return /^https?:\/\/([^.:/]+)/.exec(url)?.[1];
}

const alphabet = "bcdfghjklmnpqrstvwxz2456789";

/**
 * Six characters from a text, by FNV-1a: equal texts give equal ones, and nothing here needs to be secret.
 */
export function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  let result = "";
  for (let i = 0; i < 6; i++) {
    for (const char of text) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193) >>> 0;
    result += alphabet[hash % alphabet.length];
  }
  return result;
}
