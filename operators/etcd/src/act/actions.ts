/**
 * Performs the steps of the plan. Each step is idempotent and decides nothing: the next pass observes what is
 * half done and plans again.
 */
import { applyMemberBudget, applyMemberServices, avoidingNode, isOutsideOfLoopback } from "@setpoint/data-service";
import type { Pod, Service } from "setpoint/kinds";
import { type ReconcileContext, type Result, TemporaryError } from "setpoint";
import { isForbidden, isInvalid } from "setpoint/client";
import { isNotYet, waitsForStart } from "../gateway/etcd-gateway.ts";
import { isGivenUpVolume, labels, newMemberName, peerUrl } from "../kind/member-names.ts";
import { forced } from "../resources/given-up-members.ts";
import { memberImage, versionAnnotation } from "../resources/member-image.ts";
import { memberLabels, memberPod } from "../resources/member-pod.ts";
import { copyingFirst, removingCopies } from "../resources/survivor-copy.ts";
import { memberVolume } from "../resources/member-volume.ts";
import { isRetained, retentionLabels } from "../resources/retained-volumes.ts";
import { memberSet, minAvailable, serviceRoles } from "../resources/services.ts";
import type { EtcdConnections } from "../access/connections.ts";
import { type Actions, type Answering, recheckMs } from "../plan/etcd-step.ts";
import { nodeToAvoid } from "../plan/plan-disks.ts";
import { endpointOf, find } from "./observed-member.ts";
import { askAgain, whoRuns } from "./checks.ts";
import { restoreActions } from "./restore-actions.ts";
import { isHealthy, isLeader, joinList, podState } from "../seen/seen.ts";
import type { Situation } from "../plan/situation.ts";

type ActionFunctions = {
  readonly [Name in keyof Actions]: (
    args: Actions[Name],
    context: ReconcileContext,
    seen: Situation,
  ) => Promise<Result | void>;
};

export function etcdActions(connections: EtcdConnections): ActionFunctions {
  const askNow = (check: Answering, seen: Situation, context: ReconcileContext): Promise<string | undefined> =>
    askAgain(check, seen, connections, context);
  return {
    ...restoreActions,
    maintainCertificates: (_, context, { cluster, members }) =>
      connections.maintain(
        cluster,
        members.flatMap(({ pod }) => pod ?? []),
        context,
      ),

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

    async fenceMember({ member, check }, context, seen) {
      const refusal = await askNow(check, seen, context);
      if (refusal !== undefined) return context.requeueAfter(membershipRetryMs, refusal);
      await deletePod(find(seen, member).pod, context);
    },

    async giveUpMember({ member, token }, context, seen) {
      const { pod, volume } = find(seen, member);
      // First the mark: the next process knows that this member was given up.
      if (volume !== undefined && !isGivenUpVolume(volume))
        await context.patch(volume, { metadata: { labels: { [labels.givenUp]: token } } });
      await deletePod(pod, context);
    },

    async startAlone({ member, token, gone }, context, seen) {
      const refusal = await whoRuns(gone, seen, context);
      if (refusal !== undefined) return context.requeueAfter(membershipRetryMs, refusal);
      const options = { member, version: versionOf(seen), initialCluster: [member], state: "existing" } as const;
      const { pinnedImages, certificates, copyImage, cluster, hasLoopback } = seen;
      const pod = forced(memberPod(cluster, { ...options, pinnedImages, hasLoopback, trusts: certificates?.trusts }));
      const isCopied = copyImage !== undefined && !cluster.spec.quorumRecovery.withoutCopy;
      await context.create(isCopied ? copyingFirst(pod, copyImage, token) : pod);
    },

    applyBudget: (_, context, { cluster }) => applyMemberBudget(context, memberSet(cluster), minAvailable(cluster)),

    async restartMember({ member, check }, context, seen) {
      const refusal = await askNow(check, seen, context);
      if (refusal !== undefined) return context.requeueAfter(membershipRetryMs, refusal);
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
    async defragment({ member, check }, context, seen) {
      const refusal = await askNow(check, seen, context);
      if (refusal !== undefined) return context.requeueAfter(membershipRetryMs, refusal);
      const gateway = await connections.connect(seen.cluster, context);
      const endpoint = endpointOf(find(seen, member));
      if (endpoint !== undefined) await gateway.defragment(endpoint, context.signal);
    },

    async disarm(_, context, seen) {
      const gateway = await connections.connect(seen.cluster, context);
      await gateway.disarm(endpointForChanges(seen), context.signal);
    },

    async upgradeMember({ member, version, check }, context, seen) {
      const pod = find(seen, member).pod;
      if (pod === undefined) return;
      const refusal = await askNow(check, seen, context);
      if (refusal !== undefined) return context.requeueAfter(membershipRetryMs, refusal);
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

function applyServices(context: ReconcileContext, seen: Situation): Promise<readonly Service[]> {
  return applyMemberServices(context, memberSet(seen.cluster), { roles: serviceRoles, names: seen.servicesToApply });
}

async function startMember(
  { member, initialCluster, state }: Actions["startMember"],
  { create }: ReconcileContext,
  seen: Situation,
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

/** The version of the data: no recovery is an upgrade. */
function versionOf({ cluster, targetVersion }: Situation): string {
  return cluster.status?.currentVersion ?? targetVersion;
}

/** A member that refuses the login may report nothing of itself. */
function endpointForLogins(seen: Situation): string {
  const running = seen.members.find(({ pod }) => podState(pod) === "running");
  const isSilent = seen.members.every(({ status }) => status === undefined);
  return (isSilent ? endpointOf(running ?? {}) : undefined) ?? endpointForChanges(seen);
}

/** Changes of membership go to the leader, or to another healthy voter, never to the member concerned. */
function endpointForChanges(seen: Situation, except?: string): string {
  const voters = seen.members.filter(
    (each) => each.name !== except && isHealthy(each) && each.status?.learner === false,
  );
  const endpoint = endpointOf(voters.find(isLeader) ?? voters[0] ?? {});
  if (endpoint === undefined)
    throw new Error(`Cannot change the membership of "${seen.cluster.metadata.name}": no healthy member answers`);
  return endpoint;
}
