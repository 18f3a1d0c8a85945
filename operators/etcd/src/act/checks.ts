/**
 * Makes the checks that the plan named, just before a step that could do harm, and says why one refuses. They
 * ask members and the API server, because a stopping member still answers. The cache may show an old state of
 * its pod, and a busy server may have delayed earlier writes for seconds.
 */
import type { ReconcileContext } from "setpoint";
import { Pod } from "setpoint/kinds";
import type { EtcdConnections } from "../access/connections.ts";
import type { EtcdGateway } from "../gateway/etcd-gateway.ts";
import type { Answering } from "../plan/etcd-step.ts";
import type { Situation } from "../plan/situation.ts";
import { podState, type SeenMember } from "../seen/seen.ts";
import { endpointOf, find } from "./observed-member.ts";

/** How old answers may be for a decision to stop a member. */
const answersMsMax = 2_000;

/** Why too few of the members run and answer at this moment; undefined when enough do. */
export async function askAgain(
  { members, atLeast }: Answering,
  seen: Situation,
  connections: EtcdConnections,
  context: ReconcileContext,
): Promise<string | undefined> {
  const gateway = await connections.connect(seen.cluster, context);
  if (members.length === 0 && atLeast === 0) return undefined;
  const asked = members.map((name) => find(seen, name));
  const risks = await risksOf(asked, seen, gateway, context);
  return members.length - risks.length < atLeast ? (risks[0] ?? "no quorum would be left") : undefined;
}

async function risksOf(
  others: readonly SeenMember[],
  seen: Situation,
  gateway: EtcdGateway,
  context: ReconcileContext,
): Promise<readonly string[]> {
  const {
    host: { clock },
    signal,
  } = context;
  const askedMs = clock.monotonic();
  const risks = await Promise.all(others.map((each) => riskOf(each, seen, gateway, context)));
  signal.throwIfAborted();
  const tookMs = clock.monotonic() - askedMs;
  // A process that was paused holds answers that were true before.
  if (tookMs > answersMsMax)
    return others.map(() => `the other members answered no sooner than after ${Math.round(tookMs)} ms`);
  return risks.filter((risk) => risk !== undefined);
}

async function riskOf(
  member: SeenMember,
  { cluster }: Situation,
  gateway: EtcdGateway,
  { fresh, signal }: ReconcileContext,
): Promise<string | undefined> {
  const { name } = member;
  const endpoint = endpointOf(member);
  const [pod, status] = await Promise.all([
    fresh(Pod, name, cluster.metadata.namespace),
    endpoint === undefined ? undefined : gateway.status(endpoint, signal).catch(() => undefined),
  ]);
  if (podState(pod) !== "running") return `the pod of ${name} is stopping`;
  return status === undefined ? `${name} does not answer any more` : undefined;
}

/** Which of these members has a pod by what the server shows and not the cache; undefined when none has. */
export async function whoRuns(
  members: readonly string[],
  { cluster }: Situation,
  { fresh }: ReconcileContext,
): Promise<string | undefined> {
  for (const name of members)
    if ((await fresh(Pod, name, cluster.metadata.namespace)) !== undefined) return `${name} has not stopped yet`;
  return undefined;
}
