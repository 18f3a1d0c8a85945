/**
 * The gauges of each EtcdCluster. Its conditions are exposed by the framework as `setpoint_object_condition`.
 */
import type { ObjectMetrics } from "setpoint/sources";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";

const secondMs = 1_000;

export const etcdMetrics: ObjectMetrics<EtcdCluster> = {
  gauges: {
    etcd_cluster_desired_members: "Members that the spec asks for.",
    etcd_cluster_members: "Members that there are.",
    etcd_cluster_ready_members: "Members that answer and know a leader.",
    etcd_cluster_waiting_seconds: "For how long the operator has waited for the same thing; 0 at rest.",
    etcd_cluster_slow_disks: "Members whose disk is slow.",
    etcd_cluster_fenced_members: "Members that a person keeps stopped.",
    etcd_cluster_paused: "Whether a person paused the cluster.",
  },
  values({ spec, status }, nowMs) {
    const since = status?.waitingFor?.since;
    return {
      etcd_cluster_desired_members: spec.size,
      etcd_cluster_members: status?.size,
      etcd_cluster_ready_members: status?.readyMembers,
      etcd_cluster_waiting_seconds: since === undefined ? 0 : Math.max(0, (nowMs - Date.parse(since)) / secondMs),
      etcd_cluster_slow_disks: status?.slowDisks?.members.length ?? 0,
      etcd_cluster_fenced_members: status?.fencing?.members.length ?? 0,
      etcd_cluster_paused: spec.paused ? 1 : 0,
    };
  },
};
