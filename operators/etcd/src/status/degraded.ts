/** The condition Degraded: which members are not well, and in what way; pure. */
import type { ConditionInit, StepFacts } from "setpoint";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { slowDisksText } from "../plan/plan-disks.ts";
import { isFenced } from "../plan/fenced-members.ts";
import { lostLoginText } from "../resources/root-login.ts";
import { corruptionText } from "../plan/corruption.ts";
import { endReason } from "../seen/pod-reason.ts";
import { isFounded, isHealthy, isServing, isVolumeLeaving, podState, type SeenMember } from "../seen/seen.ts";
import type { Situation } from "../plan/situation.ts";

type Status = NonNullable<EtcdCluster["status"]>;

const type = "Degraded";
/** Reasons that last until all members vote again: a lost member counts until its replacement is there. */
const lasting: ReadonlySet<string> = new Set(["MembersUnhealthy", "NoQuorum", "MemberReplaced"]);

export function degraded(seen: Situation, phase: Status["phase"], { outdated }: StepFacts): ConditionInit {
  if (outdated !== undefined) return { type, status: "Unknown", reason: "NotObserved", message: outdated };
  if (seen.unreached !== undefined)
    return { type, status: "Unknown", reason: "MembersNotReached", message: seen.unreached };
  if (phase === "Hibernated" || phase === "Hibernating")
    return { type, status: "False", reason: "Hibernated", message: "All members stop, and their volumes are kept" };
  const trouble = wholeTrouble(seen) ?? memberTrouble(seen, phase) ?? founderTrouble(seen);
  if (trouble !== undefined) return { type, status: "True", ...trouble };
  if (!isFounded(seen))
    return { type, status: "False", reason: "FirstStart", message: "The cluster starts for the first time" };
  const answering = seen.members.filter((member) => member.listed !== undefined && isHealthy(member)).length;
  const message = answering === 1 ? "The only member answers" : `All ${answering} members answer`;
  return { type, status: "False", reason: "AllHealthy", message };
}

type Trouble = Pick<ConditionInit, "reason" | "message">;

/** Which members are in which cluster: a person has to decide between them. */
function clustersText({ clusterIds, members }: Situation): string {
  return clusterIds
    .map((id) => {
      const names = members.filter(({ status }) => status?.clusterId === id).map(({ name }) => name);
      return `${id} (${names.join(", ")})`;
    })
    .join(" and ");
}

function wholeTrouble(seen: Situation): Trouble | undefined {
  const { serviceTaken, clusterIds } = seen;
  const corruption = corruptionText(seen);
  if (corruption !== undefined) return { reason: "Corrupt", message: corruption };
  if (serviceTaken !== undefined)
    return { reason: "ServiceNameTaken", message: `Service "${serviceTaken}" belongs to another owner` };
  if (clusterIds.length > 1)
    return { reason: "SplitBrain", message: `Members belong to different clusters: ${clustersText(seen)}` };
  return lostLogin(seen);
}

/** With TLS the certificate of root sets another password, so that it does not last. */
function lostLogin({ authentication, cluster, isRootMissing = false }: Situation): Trouble | undefined {
  if (authentication !== "Refused" || cluster.spec.tls?.mode === "Enabled") return undefined;
  return { reason: "RootLoginLost", message: lostLoginText(cluster.metadata.name ?? "", isRootMissing) };
}

function memberTrouble(seen: Situation, phase: Status["phase"]): Trouble | undefined {
  const ill = seen.members.filter((member) => isIll(seen, member, phase));
  const volumes = volumeTexts(seen);
  const texts = [...ill.map((member) => `${member.name} ${illness(member)}`), ...volumes];
  const members = seen.members.filter((member) => isKnown(seen, member)).length;
  const fenced = fencedTexts(seen, members);
  if (!seen.quorum && isFounded(seen))
    return { reason: "NoQuorum", message: ["No quorum answers", ...texts, ...fenced].join("; ") };
  if (ill.length > 0) {
    const count = `${ill.length} of ${members} members ${ill.length === 1 ? "is" : "are"} not healthy`;
    return { reason: "MembersUnhealthy", message: [`${count}: ${texts.join("; ")}`, ...fenced].join("; ") };
  }
  const replaced = replacement(seen);
  if (replaced !== undefined) return { reason: "MemberReplaced", message: [replaced, ...volumes].join("; ") };
  if (fenced.length > 0) return { reason: "MembersFenced", message: [...fenced, ...volumes].join("; ") };
  if (volumes.length > 0) return { reason: "VolumeTerminating", message: volumes.join("; ") };
  const alarms = seen.members.flatMap(({ name, status }) => (status?.errors ?? []).map((error) => `${name}: ${error}`));
  if (alarms.length > 0) return { reason: "Alarm", message: alarms.join("; ") };
  const slow = slowDisksText(seen);
  return slow === undefined ? undefined : { reason: "SlowDisk", message: slow };
}

/** Nothing is lost yet, but the first start does not get on by itself. */
function founderTrouble(seen: Situation): Trouble | undefined {
  if (isFounded(seen)) return undefined;
  const failing = seen.members.filter(({ failure }) => failure !== undefined);
  const [first] = failing;
  if (first === undefined) return undefined;
  const others = failing.length === 1 ? "" : ` (${failing.length} pods do not run)`;
  return { reason: "MembersUnhealthy", message: `The pod of ${first.name} does not run${others}${endReason(first)}` };
}

/** A member by etcd's list, or by our own record while no quorum can say. */
function isKnown({ quorum }: Situation, { listed, recorded }: SeenMember): boolean {
  return listed !== undefined || (!quorum && recorded !== undefined);
}

/** A user stopped them: they are no casualties, and one member fewer may fail. */
function fencedTexts({ fencing }: Situation, members: number): readonly string[] {
  const { fenced } = fencing;
  const verb = fenced.length === 1 ? "is" : "are";
  return fenced.length === 0 ? [] : [`${fenced.length} of ${members} members ${verb} fenced: ${fenced.join(", ")}`];
}

function isIll(seen: Situation, member: SeenMember, phase: Status["phase"]): boolean {
  if (isFenced(seen, member)) return false;
  if (!isFounded(seen) || !isKnown(seen, member) || member.listed?.learner === true) return false;
  if (!isHealthy(member)) return !isUpgrading(seen, member);
  return phase === "Recovering" && !isServing(member);
}

/** A member that is silent because it restarts with another image is not a casualty. */
export function isUpgrading(seen: Situation, member: SeenMember): boolean {
  const { phase, restarting } = seen.cluster.status ?? {};
  return restarting === member.name || (phase === "Upgrading" && member.pod?.status?.phase === "Running");
}

/** What is the matter with a member, as its pod and etcd show it. */
function illness(member: SeenMember): string {
  const { pod, status } = member;
  const state = podState(pod);
  if (state === "missing") return "has no pod";
  if (state === "failed") return `has a pod that ended${endReason(member)}`;
  if (state === "terminating") return "has a pod that is being deleted";
  if (state === "starting") return `has a pod that has not started${endReason(member)}`;
  if (status === undefined) return `does not answer${readiness(member)}`;
  if (status.leaderId === "") return "answers and knows no leader";
  return `answers, and its pod is not ready${readiness(member)}`;
}

/** Why a pod is not ready, in one word; the node or the node controller reports it. */
function readiness({ pod }: SeenMember): string {
  const ready = pod?.status?.conditions?.find((each) => each.type === "Ready");
  return ready?.status === "True" || ready?.reason === undefined ? "" : ` (${ready.reason})`;
}

/** Claims that go as soon as their pods end. */
function volumeTexts(seen: Situation): readonly string[] {
  return seen.members
    .filter((member) => isKnown(seen, member) && isVolumeLeaving(member))
    .map(({ name, volume }) => {
      const claim = volume?.metadata.name ?? "";
      return `claim ${claim} is being deleted: ${name} loses its data when its pod ends, and is replaced then`;
    });
}

/** A lost member that was removed leaves the cluster degraded until its replacement votes. */
function replacement(seen: Situation): string | undefined {
  const lost = lostMembers(seen);
  if (lost.length === 0) return undefined;
  const { cluster, members } = seen;
  const voters = members.filter(({ listed }) => listed?.learner === false).length;
  const learner = members.find(({ listed }) => listed?.learner === true);
  const successor = learner === undefined ? "" : `; ${learner.name} joins as a learner`;
  return `${voters} of ${cluster.spec.size} members vote: ${lost.join(" and ")} is lost and is being replaced${successor}`;
}

/** Members that were not well and are no longer members, until as many vote as are wanted. */
export function lostMembers({ cluster, members, quorum }: Situation): readonly string[] {
  const { status, spec } = cluster;
  const before = status?.conditions?.find((each) => each["type"] === type);
  const listed = new Map(members.map((member) => [member.name, member.listed]));
  const voters = members.filter((member) => member.listed?.learner === false).length;
  const isDegraded = before?.["status"] === "True" && lasting.has(String(before["reason"]));
  if (status === undefined || !quorum || !isDegraded || voters >= spec.size) return [];
  const gone = status.members.filter(({ name, healthy }) => !healthy && listed.get(name) === undefined);
  return [...new Set([...(status.lostMembers ?? []), ...gone.map(({ name }) => name)])];
}
