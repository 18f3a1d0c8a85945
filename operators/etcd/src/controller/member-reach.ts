/** Asks members for their state, and notes in a dry run that they cannot be reached from this machine. */
import type { ReconcileContext } from "setpoint";
import type { Pod } from "setpoint/kinds";
import type { EtcdCluster } from "../etcd-cluster.ts";
import type { EtcdGateway, MemberStatus } from "../gateway/etcd-gateway.ts";
import { askMembers } from "./ask-members.ts";
import { podState } from "./seen.ts";

export class MemberReach {
  /** The UIDs of clusters none of whose members answered a dry run: each further call would time out. */
  readonly #unreached = new Set<string>();

  async ask(
    cluster: EtcdCluster,
    pods: ReadonlyMap<string, Pod>,
    gateway: EtcdGateway,
    { signal, controller }: Pick<ReconcileContext, "signal" | "controller">,
  ): Promise<ReadonlyMap<string, MemberStatus>> {
    const statuses = this.isLost(cluster) ? new Map<string, MemberStatus>() : await askMembers(pods, gateway, signal);
    const isSomeoneRunning = [...pods.values()].some((pod) => podState(pod) === "running");
    if (statuses.size > 0 || !isSomeoneRunning) return statuses;
    // The steps of a change follow from the status. Anything else would take the silence for a failure.
    const instead = cluster.spec.dryRun ? "the members and the leader in its status" : undefined;
    if (controller.cannotReach("the pods of its members", instead)) this.#unreached.add(uidOf(cluster));
    return statuses;
  }

  /** Whether its members need not be asked any more. */
  isLost(cluster: EtcdCluster): boolean {
    return this.#unreached.has(uidOf(cluster));
  }
}

function uidOf({ metadata: { uid = "" } }: EtcdCluster): string {
  return uid;
}
