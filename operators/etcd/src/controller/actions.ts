/**
 * Performs the steps of the plan. Each step is idempotent and decides nothing: the next pass observes what is
 * half done and plans again.
 */
import { Pod, PodDisruptionBudget, Service } from "setpoint/kinds";
import { type ReconcileContext, type Result, TemporaryError } from "setpoint";
import { isForbidden, isInvalid } from "setpoint/client";
import { isNotYet, type EtcdGateway, waitsForStart } from "../gateway/etcd-gateway.ts";
import { labels, newMemberName, peerUrl } from "../member-names.ts";
import { budgetRestoration, memberBudget } from "../resources/disruption-budget.ts";
import { forced, isGivenUpVolume } from "../resources/given-up-members.ts";
import { memberImage, versionAnnotation } from "../resources/member-image.ts";
import { memberEndpoint, memberLabels, memberPod } from "../resources/member-pod.ts";
import { avoidingNode } from "../resources/avoided-node.ts";
import { copyingFirst, removingCopies } from "../resources/survivor-copy.ts";
import { memberVolume } from "../resources/member-volume.ts";
import { isRetained, retentionLabels } from "../resources/retained-volumes.ts";
import { isOutsideOfLoopback, restoration, serviceRoles, wantedService } from "../resources/services.ts";
import type { EtcdConnections } from "./connections.ts";
import { type Actions, recheckMs } from "./etcd-step.ts";
import { isFenced, needsQuorum } from "./plan-fencing.ts";
import { quorumOf } from "./quorum-loss.ts";
import { nodeToAvoid } from "./plan-disks.ts";
import { restoreActions } from "./restore-actions.ts";
import { isHealthy, isLeader, joinList, podState, type Seen, type SeenMember } from "./seen.ts";

type ActionFunctions = {
  readonly [Name in keyof Actions]: (
    args: Actions[Name],
    context: ReconcileContext,
    seen: Seen,
  ) => Promise<Result | void>;
};

export function etcdActions(connections: EtcdConnections): ActionFunctions {
  return {
    ...restoreActions,
    maintainCertificates: (_, context, seen) => connections.maintain(seen, context),

    async enableAuthentication(_, context, seen) {
      await connections.enableAuthentication(seen, endpointForLogins(seen), context);
      return context.requeueAfter(0, "see whether etcd accepts the login");
    },

    restoreRootSecret: (_, context, seen) => connections.restoreRoot(seen, context),

    applyServices: async (_, context, seen) => void (await applyServices(context, seen)),

    startMember: (args, context, seen) => startMember(args, context, seen),

    // One after another: when the server refuses one, no other is in flight, and the next pass plans the
    // rest.
    async startFounders({ members, initialCluster }, context, seen) {
      const applied = await applyServices(context, seen);
      // Before its first Service a cluster does not show whether pods have loopback addresses of their own.
      const hasLoopback = seen.hasLoopback || applied.some(isOutsideOfLoopback);
      const [first, ...others] = members;
      const start = (member: string): Promise<void> =>
        startMember({ member, initialCluster, state: "new" }, context, { ...seen, hasLoopback });
      if (first !== undefined) await start(first);
      try {
        for (const member of others) await start(member);
      } catch (error) {
        if (!isForbidden(error)) throw error;
        // The first one was created, so the quota refuses another object now: the next run begins a new
        // back-off.
        return context.requeueAfter(0, error.message);
      }
    },

    async changeOwner({ member }, { patch }, seen) {
      const { volume } = find(seen, member);
      if (volume === undefined) return;
      const { apiVersion, kind, metadata, spec } = seen.cluster;
      const { name = "", uid = "" } = metadata;
      const owner = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
      const others = (volume.metadata.ownerReferences ?? []).filter((each) => each.uid !== uid);
      const ownerReferences = spec.deletionPolicy === "Delete" ? [...others, owner] : others;
      const marks = retentionLabels(spec.deletionPolicy === "Retain");
      await patch(volume, { metadata: { ownerReferences, labels: marks } }, { unchanged: true });
    },

    async restoreLabels({ member }, { patch }, seen) {
      const { pod, volume } = find(seen, member);
      const wanted = memberLabels(seen.cluster, member);
      if (pod !== undefined) await patch(pod, { metadata: { labels: wanted } });
      const { [labels.cluster]: cluster, [labels.member]: name } = wanted;
      if (volume !== undefined)
        await patch(volume, { metadata: { labels: { [labels.cluster]: cluster, [labels.member]: name } } });
    },

    async deletePod({ member }, context, seen) {
      await deletePod(find(seen, member).pod, context);
    },

    async deleteVolume({ member }, context, seen) {
      const volume = find(seen, member).volume;
      if (volume === undefined) return;
      // Its data are in the other members; the retention label would keep it for ever.
      if (isRetained(volume)) await context.patch(volume, { metadata: { labels: retentionLabels(false) } });
      await context.delete(volume);
    },

    async addLearner({ replaces }, context, seen) {
      const { name = "" } = seen.cluster.metadata;
      const member = newMemberName(name, context.host.random);
      const gateway = await connections.connect(seen.cluster, context);
      const added = gateway.addLearner(endpointForChanges(seen), peerUrl(member, seen.cluster), context.signal);
      const start = { member, initialCluster: joinList(seen, member), state: "existing" } as const;
      return unlessNotYet(
        added.then(() => startMember(start, context, seen, replaces)),
        context,
      );
    },

    async promote({ id }, context, seen) {
      const gateway = await connections.connect(seen.cluster, context);
      return unlessNotYet(gateway.promote(endpointForChanges(seen), id, context.signal), context);
    },

    async removeMember({ member, id }, context, seen) {
      const { pod } = find(seen, member);
      const gateway = await connections.connect(seen.cluster, context);
      const removed = gateway.remove(endpointForChanges(seen, member), id, context.signal);
      return unlessNotYet(
        removed.then(() => deletePod(pod, context)),
        context,
      );
    },

    async moveLeader({ from, id }, context, seen) {
      const endpoint = endpointOf(find(seen, from));
      if (endpoint === undefined) return;
      const gateway = await connections.connect(seen.cluster, context);
      return unlessNotYet(gateway.moveLeader(endpoint, id, context.signal), context);
    },

    async fenceMember({ member }, context, seen) {
      const gateway = await connections.connect(seen.cluster, context);
      const risk = await riskOfFencing(seen, member, gateway, context);
      if (risk !== undefined) return context.requeueAfter(membershipRetryMs, risk);
      await deletePod(find(seen, member).pod, context);
    },

    async giveUpMember({ member, token }, context, seen) {
      const { pod, volume } = find(seen, member);
      // First the mark: the next process knows that this member was given up.
      if (volume !== undefined && !isGivenUpVolume(volume))
        await context.patch(volume, { metadata: { labels: { [labels.givenUp]: token } } });
      await deletePod(pod, context);
    },

    async startAlone({ member, token }, context, seen) {
      const running = await runningOf(seen.givenUp, seen, context);
      if (running !== undefined) return context.requeueAfter(membershipRetryMs, `${running} has not stopped yet`);
      const options = { member, version: versionOf(seen), initialCluster: [member], state: "existing" } as const;
      const { pinnedImages, certificates, copyImage, cluster, hasLoopback } = seen;
      const pod = forced(memberPod(cluster, { ...options, pinnedImages, hasLoopback, trusts: certificates?.trusts }));
      const isCopied = copyImage !== undefined && !cluster.spec.quorumRecovery.withoutCopy;
      await context.create(isCopied ? copyingFirst(pod, copyImage, token) : pod);
    },

    async applyBudget(_, { apply, get, patch }, { cluster }) {
      const wanted = memberBudget(cluster);
      const { name = "", namespace } = wanted.metadata;
      const present = get(PodDisruptionBudget, name, namespace);
      if (present === undefined) await apply(wanted);
      else await patch(present, budgetRestoration(present, wanted), { unchanged: true });
    },

    async restartMember({ member }, context, seen) {
      const gateway = await connections.connect(seen.cluster, context);
      const risk = await riskBeside(seen, member, gateway, context);
      if (risk !== undefined) return context.requeueAfter(membershipRetryMs, risk);
      await deletePod(find(seen, member).pod, context);
    },

    // The members are watched on: no change of an object tells when the class or a policy allows it.
    async growVolume({ member, storage }, { patch }, seen) {
      const { volume } = find(seen, member);
      if (volume === undefined) return;
      try {
        await patch(volume, { spec: { resources: { requests: { storage } } } });
      } catch (error) {
        if (!isForbidden(error) && !isInvalid(error)) throw error;
        throw new TemporaryError(error.message, recheckMs, { cause: error });
      }
    },

    async compact({ revision }, context, seen) {
      const gateway = await connections.connect(seen.cluster, context);
      await gateway.compact(endpointForChanges(seen), revision, context.signal);
    },

    // A member answers nobody while it is defragmented.
    async defragment({ member }, context, seen) {
      const gateway = await connections.connect(seen.cluster, context);
      const risk = await riskBeside(seen, member, gateway, context);
      if (risk !== undefined) return context.requeueAfter(membershipRetryMs, risk);
      const endpoint = endpointOf(find(seen, member));
      if (endpoint !== undefined) await gateway.defragment(endpoint, context.signal);
    },

    async disarm(_, context, seen) {
      const gateway = await connections.connect(seen.cluster, context);
      await gateway.disarm(endpointForChanges(seen), context.signal);
    },

    async upgradeMember({ member, version }, context, seen) {
      const pod = find(seen, member).pod;
      if (pod === undefined) return;
      const gateway = await connections.connect(seen.cluster, context);
      const risk = await riskBeside(seen, member, gateway, context);
      if (risk !== undefined) return context.requeueAfter(membershipRetryMs, risk);
      const image = memberImage(seen.cluster, version, seen.pinnedImages);
      // A merge patch replaces whole lists: these are the observed containers, and `unchanged` guards against
      // a change since.
      const containers = pod.spec?.containers.map((container) =>
        container.name === "etcd" ? { ...container, image } : container,
      );
      // The new process reads the bundle of authorities again.
      const trusts = seen.certificates?.trusts;
      const annotations = {
        ...versionAnnotation(version),
        ...(trusts === undefined ? {} : { [labels.trusts]: trusts.join(",") }),
      };
      // A busy server may execute it later, when another member is down.
      await context.patch(pod, { metadata: { annotations }, spec: { containers } }, { unchanged: true, once: true });
    },
  };
}

async function applyServices(
  { apply, get, patch }: ReconcileContext,
  { cluster, servicesToApply }: Seen,
): Promise<readonly Service[]> {
  const applied: Service[] = [];
  for (const role of serviceRoles) {
    const wanted = wantedService(cluster, role);
    const { name = "", namespace } = wanted.metadata;
    if (!servicesToApply.includes(name)) continue;
    const present = get(Service, name, namespace);
    if (present === undefined) applied.push(await apply(wanted));
    // The list of ports is written as a whole, so nothing may have changed since it was read.
    else await patch(present, restoration(present, wanted), { unchanged: true });
  }
  return applied;
}

async function startMember(
  { member, initialCluster, state }: Actions["startMember"],
  { create }: ReconcileContext,
  seen: Seen,
  replaces: string | undefined = seen.cluster.status?.slowDisks?.replacing,
): Promise<void> {
  const { cluster, targetVersion, members, certificates, pinnedImages, copyImage, copyToRemove, hasLoopback } = seen;
  const volume = memberVolume(cluster, member);
  const hasVolume = members.some((each) => each.name === member && each.volume !== undefined);
  // A retained volume has no owner, so that deleting the EtcdCluster leaves it.
  if (volume !== undefined && !hasVolume) await create(volume, { owner: cluster.spec.deletionPolicy === "Delete" });
  const pod = memberPod(cluster, {
    ...{ member, version: targetVersion, initialCluster, state, pinnedImages, hasLoopback },
    trusts: certificates?.trusts,
  });
  const avoided = avoidingNode(pod, nodeToAvoid(seen, replaces));
  await create(copyToRemove === member && copyImage !== undefined ? removingCopies(avoided, copyImage) : avoided);
}

/** Deletes the observed pod only, and only if it has not changed. */
async function deletePod(pod: Pod | undefined, context: ReconcileContext): Promise<void> {
  if (pod !== undefined && podState(pod) !== "terminating") await context.delete(pod, { unchanged: true });
}

/**
 * etcd refuses membership changes until all voters have been connected for 5 s; frequent retries cost little.
 */
const membershipRetryMs = 250;
/** A step that waits for a pod may wait for long. */
const startRetryMs = 2_000;

/** How old answers may be for a decision to stop a member. */
const answersMsMax = 2_000;

/** A temporary refusal is no failure: the operator retries it soon, without a growing back-off. */
async function unlessNotYet(change: Promise<void>, context: ReconcileContext): Promise<Result | void> {
  try {
    await change;
    // No watch shows changes in etcd, so retry at once, however many attempts this step had.
    return context.requeueAfter(0, "see what has changed in etcd");
  } catch (error) {
    if (!isNotYet(error)) throw error;
    return context.requeueAfter(waitsForStart(error) ? startRetryMs : membershipRetryMs, error.message);
  }
}

/**
 * Why the cluster cannot do without another member at this moment. It asks all members, because a stopping
 * member still answers. The cache may show an old state of its pod, and a busy server may have delayed
 * earlier writes for seconds. Two members at once are never without risk.
 */
async function riskBeside(
  seen: Seen,
  member: string,
  gateway: EtcdGateway,
  context: ReconcileContext,
): Promise<string | undefined> {
  const others = seen.members.filter(({ name, listed }) => name !== member && listed !== undefined);
  return (await risksOf(others, seen, gateway, context))[0];
}

/** The same for a member that a user stops: a quorum is enough, and less when the user allows it. */
async function riskOfFencing(
  seen: Seen,
  member: string,
  gateway: EtcdGateway,
  context: ReconcileContext,
): Promise<string | undefined> {
  if (!needsQuorum(seen, find(seen, member))) return undefined;
  const voters = seen.members.filter(({ listed }) => listed?.learner === false);
  const others = voters.filter((each) => each.name !== member && !isFenced(seen, each));
  const risks = await risksOf(others, seen, gateway, context);
  return others.length - risks.length < quorumOf(voters.length) ? (risks[0] ?? "no quorum would be left") : undefined;
}

async function risksOf(
  others: readonly SeenMember[],
  seen: Seen,
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
  { cluster }: Seen,
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

/** A member that has a pod by what the server shows, whatever the cache does. */
async function runningOf(
  members: readonly SeenMember[],
  { cluster }: Seen,
  { fresh }: ReconcileContext,
): Promise<string | undefined> {
  for (const { name } of members) if ((await fresh(Pod, name, cluster.metadata.namespace)) !== undefined) return name;
  return undefined;
}

/** The version of the data: no recovery is an upgrade. */
function versionOf({ cluster, targetVersion }: Seen): string {
  return cluster.status?.currentVersion ?? targetVersion;
}

function find(seen: Seen, name: string): SeenMember {
  return [...seen.members, ...seen.givenUp].find((each) => each.name === name) ?? { name };
}

function endpointOf({ pod }: Pick<SeenMember, "pod">): string | undefined {
  return pod === undefined ? undefined : memberEndpoint(pod);
}

/** A member that refuses the login may report nothing of itself. */
function endpointForLogins(seen: Seen): string {
  const running = seen.members.find(({ pod }) => podState(pod) === "running");
  const isSilent = seen.members.every(({ status }) => status === undefined);
  return (isSilent ? endpointOf(running ?? {}) : undefined) ?? endpointForChanges(seen);
}

/** Changes of membership go to the leader, or to another healthy voter, never to the member concerned. */
function endpointForChanges(seen: Seen, except?: string): string {
  const voters = seen.members.filter(
    (each) => each.name !== except && isHealthy(each) && each.status?.learner === false,
  );
  const endpoint = endpointOf(voters.find(isLeader) ?? voters[0] ?? {});
  if (endpoint === undefined)
    throw new Error(`Cannot change the membership of "${seen.cluster.metadata.name}": no healthy member answers`);
  return endpoint;
}
