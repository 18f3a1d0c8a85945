/** Options of etcd that the operator has measured; pure. */
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { heartbeatMsDefault } from "../kind/tuning.ts";

const heartbeat = "heartbeat-interval";
const election = "election-timeout";

/** None when a user sets one of them, because the two belong together; none where etcd's defaults fit. */
export function tunedOptions({ spec, status }: EtcdCluster): Readonly<Record<string, string>> {
  const { options = {}, tuning } = spec;
  const { heartbeatMilliseconds = heartbeatMsDefault, electionMilliseconds } = status?.tuning ?? {};
  const isOwn = options[heartbeat] !== undefined || options[election] !== undefined;
  if (tuning !== "auto" || isOwn || heartbeatMilliseconds === heartbeatMsDefault) return {};
  return { [heartbeat]: String(heartbeatMilliseconds), [election]: String(electionMilliseconds) };
}
