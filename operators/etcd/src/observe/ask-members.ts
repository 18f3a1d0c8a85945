/** Asks members over etcd's own API; one that does not answer is left out. */
import type { Pod } from "setpoint/kinds";
import type { Authentication, EtcdGateway, MemberList, MemberPosition, MemberStatus } from "../gateway/etcd-gateway.ts";
import { memberEndpoint, metricsEndpoint } from "../resources/member-pod.ts";
import { podState } from "../seen/seen.ts";

/**
 * What each running member says of itself; those that do not answer are missing, and `onError` gets the
 * reason.
 */
export async function askMembers(
  pods: ReadonlyMap<string, Pod>,
  gateway: EtcdGateway,
  signal: AbortSignal,
  onError: (name: string, error: unknown) => void = () => {},
): Promise<ReadonlyMap<string, MemberStatus>> {
  const answers = new Map<string, MemberStatus>();
  const asked: Promise<unknown>[] = [];
  for (const [name, pod] of pods) {
    const endpoint = podState(pod) === "running" ? memberEndpoint(pod) : undefined;
    if (endpoint === undefined) continue;
    const answered = (status: MemberStatus): unknown => answers.set(name, status);
    asked.push(gateway.status(endpoint, signal).then(answered, (error: unknown) => onError(name, error)));
  }
  await Promise.all(asked);
  signal.throwIfAborted();
  return answers;
}

/** The member list from a voter that can reach a quorum, the leader first. */
export async function askQuorum(
  pods: ReadonlyMap<string, Pod>,
  statuses: ReadonlyMap<string, MemberStatus>,
  gateway: EtcdGateway,
  signal: AbortSignal,
): Promise<MemberList | undefined> {
  const voters = [...statuses].filter(([, status]) => !status.learner && status.leaderId !== "");
  voters.sort(([, a], [, b]) => Number(b.leaderId === b.memberId) - Number(a.leaderId === a.memberId));
  for (const [name] of voters) {
    const pod = pods.get(name);
    const endpoint = pod === undefined ? undefined : memberEndpoint(pod);
    const list = endpoint === undefined ? undefined : await gateway.members(endpoint, signal).catch(() => undefined);
    if (list !== undefined) return list;
  }
  signal.throwIfAborted();
  return undefined;
}

/** How far members are that run without a leader: they answer nothing else. */
export async function askPositions(
  isNeeded: boolean,
  pods: ReadonlyMap<string, Pod>,
  statuses: ReadonlyMap<string, MemberStatus>,
  { gateway, signal }: { readonly gateway: EtcdGateway; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, MemberPosition>> {
  const positions = new Map<string, MemberPosition>();
  if (!isNeeded) return positions;
  const silent = [...pods].filter(([name, pod]) => podState(pod) === "running" && !statuses.has(name));
  await Promise.all(
    silent.map(async ([name, pod]) => {
      const endpoint = metricsEndpoint(pod);
      const position =
        endpoint === undefined ? undefined : await gateway.position(endpoint, signal).catch(() => undefined);
      if (position !== undefined) positions.set(name, position);
    }),
  );
  signal.throwIfAborted();
  return positions;
}

/**
 * From a voter that follows a leader; undefined when none of them says. When no member reports its status,
 * from any that runs: since 3.5.32 and 3.6.12 etcd reports it only to a login that it accepts.
 */
export async function askAuthentication(
  pods: ReadonlyMap<string, Pod>,
  statuses: ReadonlyMap<string, MemberStatus>,
  gateway: EtcdGateway,
  signal: AbortSignal,
): Promise<Authentication | undefined> {
  for (const pod of askedForAuthentication(pods, statuses)) {
    const endpoint = memberEndpoint(pod);
    if (endpoint === undefined) continue;
    const answer = await gateway.authentication(endpoint, signal).catch(() => undefined);
    if (answer !== undefined) return answer;
  }
  signal.throwIfAborted();
  return undefined;
}

function askedForAuthentication(
  pods: ReadonlyMap<string, Pod>,
  statuses: ReadonlyMap<string, MemberStatus>,
): readonly Pod[] {
  if (statuses.size === 0) return [...pods.values()].filter((pod) => podState(pod) === "running");
  const voters = [...statuses].filter(([, { learner, leaderId }]) => !learner && leaderId !== "");
  return voters.flatMap(([name]) => pods.get(name) ?? []);
}
