/**
 * What is done for an etcd cluster, in one list that is read from top to bottom. The order is the policy:
 * never act on two members at once, repair before resizing, resize before upgrading, and touch the leader
 * last. A table of situations tests each rule.
 */
import { fencingRefusalText } from "@setpoint/data-service";
import { rest, wait } from "setpoint";
import type { PlanRule } from "setpoint/sources";
import { refusalText } from "../kind/accepted-spec.ts";
import { isFounded } from "../seen/seen.ts";
import { withCorruption } from "./corruption.ts";
import { act, type Actions, type EtcdStep, recheckMs, restUnlessRefused } from "./etcd-step.ts";
import { planAuthentication } from "./plan-access.ts";
import { planDisks, planUnreadyDisk } from "./plan-disks.ts";
import { planFencing, planWhileFenced } from "./plan-fencing.ts";
import { planFirstStart } from "./plan-first-start.ts";
import { planHealing } from "./plan-healing.ts";
import { isHibernated, planHibernation } from "./plan-hibernation.ts";
import { hasNoSpace, planDefragmentation, planSpace } from "./plan-maintenance.ts";
import { planCleanup, planLearners, planSize, planWaitForHealth } from "./plan-membership.ts";
import { planAfterRecovery, planWithoutQuorum } from "./plan-quorum.ts";
import { planRestore } from "./plan-restore.ts";
import { planChanges, planDry, withinWindow } from "./plan-upgrade.ts";
import { planVolumes } from "./plan-volumes.ts";
import type { Situation } from "./situation.ts";

/** A row of the plan. */
export type Rule = PlanRule<Situation, Actions>;

/** How soon members that were not reached are asked again. */
const unreachedMs = 2_000;

const always = (): boolean => true;
const pausedText = "spec.paused is true, so nothing is changed";

export const rules: readonly Rule[] = [
  // Before anything is known of the members.
  { name: "paused", when: isPaused, step: () => rest(recheckMs, { reason: "Paused", message: pausedText }) },
  { name: "restore", when: ({ restore }) => restore.mark !== undefined, step: planRestore },
  { name: "service name taken", when: ({ serviceTaken }) => serviceTaken !== undefined, step: waitForServiceName },
  { name: "fields refused", when: isRefusedAtFirst, step: ({ refusals }) => wait(refusalText(refusals), recheckMs) },
  { name: "certificates", when: ({ certificates }) => certificates !== undefined, step: planCertificates },
  { name: "services", when: hasServicesToApply, step: applyServices },
  { name: "volume owner", when: ({ misowned }) => misowned.length > 0, step: changeOwner },
  { name: "labels", when: ({ mislabelled }) => mislabelled.length > 0, step: restoreLabels },
  // No member reports its status, and with it a quorum, to a login that it refuses.
  { name: "login without a quorum", when: ({ quorum }) => !quorum, step: planAuthentication },
  // Nothing is known of the members, and they serve: each step could harm them.
  { name: "out of reach", when: ({ unreached }) => unreached !== undefined, step: waitForReach },

  // The cluster as a whole.
  { name: "first start", when: (seen) => !isFounded(seen), step: planFirstStart },
  { name: "split brain", when: ({ clusterIds }) => clusterIds.length > 1, step: waitForPerson },
  { name: "fencing", when: ({ fencing }) => fencing.fenced.length > 0, step: planFencing },
  { name: "hibernation", when: isHibernated, step: planHibernation },
  { name: "no quorum", when: ({ quorum }) => !quorum, step: (seen) => withCorruption(seen, planWithoutQuorum(seen)) },

  // A quorum answers: first what is broken.
  { name: "login", when: ({ authentication }) => authentication !== undefined, step: planAuthentication },
  { name: "after a recovery", when: always, step: planAfterRecovery },
  { name: "budget", when: ({ needsBudget, cluster }) => needsBudget && !cluster.spec.dryRun, step: applyBudget },
  { name: "cleanup", when: always, step: planCleanup },
  { name: "healing", when: always, step: planHealing },
  { name: "learner", when: ({ members }) => members.some(({ listed }) => listed?.learner), step: planLearners },
  { name: "unready disk", when: always, step: planUnreadyDisk },
  { name: "health", when: always, step: planWaitForHealth },
  { name: "while fenced", when: ({ fencing }) => fencing.fenced.length > 0, step: planWhileFenced },
  { name: "no space", when: hasNoSpace, step: planSpace },

  // All members are well: what the spec asks for.
  { name: "dry run", when: ({ cluster }) => cluster.spec.dryRun, step: planDry },
  { name: "size", when: always, step: planSize },
  { name: "slow disk", when: ({ cluster }) => cluster.spec.healing.slowDisk === "replace", step: planDisks },
  { name: "changes", when: always, step: (seen) => withinWindow(seen, planChanges(seen)) },
  {
    name: "defragmentation",
    when: always,
    step: (seen, nowMs) => withinWindow(seen, planDefragmentation(seen, nowMs)),
  },
  { name: "volume size", when: always, step: planVolumes },
  { name: "rest", when: always, step: atRest },
];

function isPaused({ cluster }: Situation): boolean {
  return cluster.spec.paused;
}

function waitForServiceName({ serviceTaken }: Situation): EtcdStep {
  return wait(
    `Service "${serviceTaken}" belongs to another controller or user; rename the EtcdCluster or remove that Service`,
    recheckMs,
  );
}

/** A cluster that runs is operated without the refused fields. */
function isRefusedAtFirst(seen: Situation): boolean {
  return !isFounded(seen) && seen.refusals.length > 0;
}

/** Certificates are needed before the first pod, and are renewed whatever else is going on. */
function planCertificates(seen: Situation): EtcdStep | undefined {
  const { certificates } = seen;
  if (certificates?.due.step !== undefined) return act("maintainCertificates", {}, certificates.due.why);
  if (certificates?.problem === undefined || isFounded(seen)) return undefined;
  return wait(certificates.problem, recheckMs);
}

/** The very first step creates them together with the founders. */
function hasServicesToApply(seen: Situation): boolean {
  return seen.servicesToApply.length > 0 && (isFounded(seen) || seen.members.length > 0);
}

function applyServices({ servicesToApply }: Situation): EtcdStep {
  return act("applyServices", {}, `Services ${servicesToApply.join(" and ")} differ from the desired state`);
}

function changeOwner({ misowned: [member = ""], cluster }: Situation): EtcdStep {
  const policy = cluster.spec.deletionPolicy;
  return act("changeOwner", { member }, `the volume of ${member} is not yet under deletionPolicy ${policy}`);
}

function restoreLabels({ mislabelled: [member = ""] }: Situation): EtcdStep {
  return act("restoreLabels", { member }, `the labels of ${member} differ from the desired state`);
}

function waitForPerson({ clusterIds }: Situation): EtcdStep {
  return wait(
    `members belong to ${clusterIds.length} different clusters (${clusterIds.join(", ")}): a person must decide which one is right`,
    recheckMs,
  );
}

function waitForReach({ unreached = "" }: Situation): EtcdStep {
  return wait(unreached, unreachedMs);
}

/** It follows from the size, which a dry run leaves as it is. */
function applyBudget(): EtcdStep {
  return act("applyBudget", {}, "the PodDisruptionBudget differs from the desired state");
}

/** Nothing to do. The status reports what was refused for as long as the spec has it. */
function atRest({ versionRefusal, certificates, fencing, refusals }: Situation): EtcdStep {
  const refusal = versionRefusal ?? fencingRefusalText(fencing) ?? certificates?.problem ?? certificates?.due.blocked;
  return refusal === undefined ? restUnlessRefused(refusals) : wait(refusal, recheckMs);
}
