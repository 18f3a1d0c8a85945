/** Long operations on an EtcdCluster, for the kind Operation. */
import {
  changeFencing,
  changeHibernation,
  type EngineOperations,
  type OperationReport,
  type OperationRequest,
} from "@setpoint/data-service";
import { Pod } from "setpoint/kinds";
import { type ReconcileContext, seconds, type Stored } from "setpoint";
import { EtcdCluster } from "../kind/etcd-cluster.ts";
import { fencingFacts, recordedMembers } from "../plan/fencing-judgement.ts";
import type { EtcdConnections } from "../access/connections.ts";
import { labels } from "../kind/member-names.ts";
import { memberEndpoint } from "../resources/member-pod.ts";
import { wantsVolumes } from "../resources/member-volume.ts";
import { withTlsMode } from "../resources/tls.ts";

/** The status of the cluster follows etcd within ten seconds. */
const lookAgainMs = seconds(2);

/** What the operator can do with an EtcdCluster on request. */
export function etcdOperations(connections: EtcdConnections): EngineOperations<EtcdCluster> {
  return {
    name: "etcd",
    kind: EtcdCluster,
    types: ["Restart", "Defragment", "Switchover", "Hibernate", "Wake", "Fence", "Unfence"],
    disruptive: ["Restart", "Defragment", "Hibernate", "Switchover"],
    windows: ({ spec }) => spec.maintenanceWindows ?? [],
    advance(cluster, request, context) {
      if (request.type === "Restart") return restart(cluster, request, context);
      if (request.type === "Defragment") return defragment(cluster, request, context);
      if (request.type === "Switchover") return switchOver(cluster, request, context, connections);
      if (request.type === "Fence" || request.type === "Unfence") return fencing(cluster, request, context);
      return hibernation(cluster, request, context);
    },
  };
}

/** The cluster's controller restarts members with the gates of a rollout: one at a time, the leader last. */
async function restart(
  cluster: Stored<EtcdCluster>,
  { id }: OperationRequest,
  context: ReconcileContext,
): Promise<OperationReport> {
  const { metadata, spec, status } = cluster;
  const { name, namespace = "" } = metadata;
  await request(cluster, labels.restart, id, context);
  const labelSelector = `${labels.cluster}=${name}`;
  const { items } = await context.client.listAll(Pod, { namespace, labelSelector, signal: context.signal });
  const done = items.filter((pod) => pod.metadata.annotations?.[labels.restart] === id && isReady(pod)).length;
  const isOver = done === items.length && done === spec.size && status?.phase === "Running";
  if (isOver) return { state: "done", message: `All ${spec.size} members were restarted` };
  const waiting = status?.waitingFor?.what ?? "Members restart one at a time, the leader last";
  return { state: "running", message: waiting, progress: `${done}/${spec.size}`, recheckMs: lookAgainMs };
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some((each) => each.type === "Ready" && each.status === "True") ?? false;
}

/** A run that a lack of space cut short has defragmented all members too. */
async function defragment(
  cluster: Stored<EtcdCluster>,
  { id }: OperationRequest,
  context: ReconcileContext,
): Promise<OperationReport> {
  const { status } = cluster;
  await request(cluster, labels.defragment, id, context);
  const hasBegun = status?.lastRequestedDefragmentation === id;
  const run = status?.defragmentation;
  if (hasBegun && (run?.request !== id || run.finished !== undefined))
    return { state: "done", message: "All members were defragmented" };
  const done = run?.request === id ? run.members.length : 0;
  const waiting = status?.waitingFor?.what ?? "Members are defragmented one at a time, the leader last";
  return { state: "running", message: waiting, progress: `${done}/${status?.size ?? 0}`, recheckMs: lookAgainMs };
}

/** An annotation with the id of the Operation: asking again asks for nothing new. */
async function request(
  { metadata: { name, namespace = "", annotations } }: Stored<EtcdCluster>,
  label: string,
  id: string,
  { client, signal }: ReconcileContext,
): Promise<void> {
  if (annotations?.[label] === id) return;
  await client.patch(EtcdCluster, { name, namespace }, { metadata: { annotations: { [label]: id } } }, { signal });
}

async function hibernation(
  cluster: Stored<EtcdCluster>,
  { type }: OperationRequest,
  context: ReconcileContext,
): Promise<OperationReport> {
  if (type === "Hibernate" && !wantsVolumes(cluster))
    return { state: "rejected", reason: "NoVolumes", message: "Members keep their data in their pods" };
  const members = { wanted: cluster.spec.size, ready: cluster.status?.readyMembers ?? 0 };
  return changeHibernation(EtcdCluster, cluster, members, type, context);
}

function fencing(
  cluster: Stored<EtcdCluster>,
  request: OperationRequest,
  context: ReconcileContext,
): Promise<OperationReport> {
  const seen = fencingFacts(cluster, recordedMembers(cluster), cluster.status?.stoppedFor !== undefined);
  return changeFencing(EtcdCluster, cluster, seen, request, context);
}

/** A leader can only hand over to a voter that is healthy; etcd refuses all others. */
async function switchOver(
  cluster: Stored<EtcdCluster>,
  { member }: OperationRequest,
  context: ReconcileContext,
  connections: EtcdConnections,
): Promise<OperationReport> {
  const { metadata, status } = cluster;
  const { namespace = "" } = metadata;
  const heir = status?.members.find(({ name }) => name === member);
  if (heir?.id === undefined || heir.role === "Learner") {
    const names = status?.members.map(({ name }) => name).join(", ") ?? "";
    return { state: "rejected", reason: "MemberMissing", message: `spec.member must be a voter: one of ${names}` };
  }
  if (heir.role === "Leader") return { state: "done", message: `${heir.name} leads` };
  const { leader } = status ?? {};
  if (leader === undefined || !heir.healthy)
    return { state: "running", message: `Waiting until ${heir.name} is healthy`, recheckMs: lookAgainMs };
  const pod = await context.client.get(Pod, { name: leader, namespace });
  const endpoint = memberEndpoint(pod);
  const gateway = await connections.connect(withTlsMode(cluster, []), context);
  if (endpoint !== undefined) await gateway.moveLeader(endpoint, heir.id, context.signal);
  return { state: "running", message: `${leader} hands over to ${heir.name}`, recheckMs: lookAgainMs };
}
