/** Asks members for their state, and notices when this process cannot reach them. */
import type { ReconcileContext } from "setpoint";
import type { Pod } from "setpoint/kinds";
import type { EtcdCluster } from "../etcd-cluster.ts";
import { type EtcdGateway, isEtcdError, type MemberStatus } from "../gateway/etcd-gateway.ts";
import { askMembers } from "./ask-members.ts";
import { podState } from "./seen.ts";

/** What members say of themselves. */
export interface Answers {
  readonly statuses: ReadonlyMap<string, MemberStatus>;
  /** Why no member answers although their nodes, which ask them too, get answers. */
  readonly unreached?: string | undefined;
}

type Context = Pick<ReconcileContext, "signal" | "controller" | "log">;

export class MemberReach {
  /** The UIDs of clusters none of whose members answered a dry run: each further call would time out. */
  readonly #unreached = new Set<string>();
  /** The UIDs of clusters about which the log says that their members are not reached. */
  readonly #logged = new Set<string>();

  async ask(
    cluster: EtcdCluster,
    pods: ReadonlyMap<string, Pod>,
    gateway: EtcdGateway,
    context: Context,
  ): Promise<Answers> {
    if (this.isLost(cluster)) return { statuses: new Map() };
    const errors = new Map<string, unknown>();
    const note = (name: string, error: unknown): void => void errors.set(name, error);
    const statuses = await askMembers(pods, gateway, context.signal, note);
    const isSomeoneRunning = [...pods.values()].some((pod) => podState(pod) === "running");
    const unreached = statuses.size > 0 ? undefined : unreachedText(pods, errors);
    this.#log(cluster, unreached, context);
    if (statuses.size > 0 || !isSomeoneRunning) return { statuses };
    // The steps of a change follow from the status. Anything else would take the silence for a failure.
    const instead = cluster.spec.dryRun ? "the members and the leader in its status" : undefined;
    if (context.controller.cannotReach("the pods of its members", instead)) this.#unreached.add(uidOf(cluster));
    return { statuses, unreached };
  }

  /** Whether its members need not be asked any more. */
  isLost(cluster: EtcdCluster): boolean {
    return this.#unreached.has(uidOf(cluster));
  }

  #log(cluster: EtcdCluster, unreached: string | undefined, { log }: Context): void {
    const uid = uidOf(cluster);
    if (unreached === undefined) return void this.#logged.delete(uid);
    if (this.#logged.has(uid)) return;
    this.#logged.add(uid);
    log.warn("Members are not reached", { reason: unreached });
  }
}

/**
 * Undefined when their nodes do not reach them either, and when a member answered with a refusal. The text
 * changes with the number of members and the sort of error only.
 */
function unreachedText(pods: ReadonlyMap<string, Pod>, errors: ReadonlyMap<string, unknown>): string | undefined {
  const silent = [...errors].filter(([name, error]) => isReady(pods.get(name)) && !isEtcdError(error));
  const [first] = silent.toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (first === undefined || [...errors.values()].some(isEtcdError)) return undefined;
  const [name, error] = first;
  const words = error instanceof Error ? error.message : String(error);
  const count = `${silent.length} of its pods ${silent.length === 1 ? "is" : "are"} ready`;
  return `no member answers the operator, but their nodes report that ${count}, so the operator does not reach pods from where it runs (${name}: ${words}); run the operator in the cluster (setpoint install etcd), not beside it, and let NetworkPolicies admit it`;
}

function isReady(pod: Pod | undefined): boolean {
  return pod?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

function uidOf({ metadata: { uid = "" } }: EtcdCluster): string {
  return uid;
}
