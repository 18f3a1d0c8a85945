/** What marks members that a recovery of the quorum has given up, and the one that goes on alone. */
import type { Pod } from "setpoint/kinds";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";

const forceFlag = "--force-new-cluster";

/** Marks everything of one recovery. */
export function recoveryToken({ status }: EtcdCluster): string {
  return status?.quorumRecovery?.approval ?? "";
}

/** Whether the pod makes its member the only one of its cluster. */
export function wasForced(pod: Pod | undefined): boolean {
  return pod?.spec?.containers.some(({ args }) => args?.includes(forceFlag)) ?? false;
}

/** The same pod, which makes its member the only one of its cluster. */
export function forced(pod: Pod): Pod {
  const containers = pod.spec?.containers.map((container) =>
    container.name === "etcd" ? { ...container, args: [...(container.args ?? []), forceFlag] } : container,
  );
  return { ...pod, spec: { ...pod.spec, containers } } as Pod;
}
