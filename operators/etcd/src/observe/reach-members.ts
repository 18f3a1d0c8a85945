/** Asks members for their state, and notices when this process cannot reach them. */
import type { ReconcileContext } from "setpoint";
import type { Pod } from "setpoint/kinds";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { type EtcdGateway, isEtcdError, type MemberStatus } from "../gateway/etcd-gateway.ts";
import { askMembers } from "./ask-members.ts";
import { podState } from "../seen/seen.ts";

/** What members say of themselves. */
export interface Answers {
  readonly statuses: ReadonlyMap<string, MemberStatus>;
  /** Why no member answers although their nodes, which ask them too, get answers. */
  readonly unreached?: string | undefined;
}

type Context = Pick<ReconcileContext, "signal" | "controller" | "log">;

/** What the process remembers of its way to the members of a cluster. */
export interface Reach {
  /** No member answered a dry run: each further call would time out. */
  readonly isLost: boolean;
  /** The log says that its members are not reached. */
  readonly isLogged: boolean;
}

/** Before anybody was asked. */
export const noReach: Reach = { isLost: false, isLogged: false };

/** Asks all members that run, unless a dry run has found that none of them can be reached. */
export async function reachMembers(
  { spec }: EtcdCluster,
  pods: ReadonlyMap<string, Pod>,
  gateway: EtcdGateway,
  before: Reach,
  context: Context,
): Promise<Answers & { readonly reach: Reach }> {
  if (before.isLost) return { statuses: new Map(), reach: before };
  const errors = new Map<string, unknown>();
  const note = (name: string, error: unknown): void => void errors.set(name, error);
  const statuses = await askMembers(pods, gateway, context.signal, note);
  const isSomeoneRunning = [...pods.values()].some((pod) => podState(pod) === "running");
  const unreached = statuses.size > 0 ? undefined : unreachedText(pods, errors);
  if (unreached !== undefined && !before.isLogged) context.log.warn("Members are not reached", { reason: unreached });
  const reach = { isLost: false, isLogged: unreached !== undefined };
  if (statuses.size > 0 || !isSomeoneRunning) return { statuses, reach };
  // The steps of a change follow from the status. Anything else would take the silence for a failure.
  const instead = spec.dryRun ? "the members and the leader in its status" : undefined;
  const isLost = context.controller.cannotReach("the pods of its members", instead);
  return { statuses, unreached, reach: { ...reach, isLost } };
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
