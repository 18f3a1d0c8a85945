/**
 * What to do next about a PostgreSQL cluster; pure. The rules are read from top to bottom, and the first that
 * applies speaks: the order is the policy.
 */
import { rest, wait } from "setpoint";
import { compareQuantities, parseQuantity } from "setpoint/kinds";
import { numberOf } from "../kind/names.ts";
import { requestedPrimary } from "../kind/postgres-cluster.ts";
import { silenceOf, termOf } from "../seen/matters.ts";
import { lastingMs } from "../seen/memory.ts";
import {
  acceptsWrites,
  hasStarted,
  instanceNamed,
  isReady,
  isStandby,
  isStreaming,
  podState,
  primaryOf,
  type Seen,
  type SeenInstance,
} from "../seen/seen.ts";
import { changeSteps, changeText } from "./change-plan.ts";
import { elect } from "./election.ts";
import { isFenced, planFencedPrimary, planHeldRestore, planWhileFenced } from "./fencing.ts";
import { isWaking, planHibernation, planWaking } from "./plan-hibernation.ts";
import { poolersFirst } from "./plan-pause.ts";
import { planBroken, planPods, planRefusedSettings, planServers, waitForReading } from "./plan-settings.ts";
import { planInstructions } from "./plan-instructions.ts";
import { planRestore } from "./plan-restore.ts";
import { planHeldUpgrade } from "./upgrade/hold-upgrade.ts";
import { planUpgrade } from "./upgrade/plan-upgrade.ts";
import { act, lookAgainMs, type PostgresStep, recheckMs } from "./postgres-step.ts";
import { isFormerStopped, wantedLabels, wantedRole } from "./wanted.ts";

interface Rule {
  readonly name: string;
  /** Undefined: the rule does not apply. */
  readonly step: (seen: Seen) => PostgresStep | undefined;
}

const defaultSilenceMs = 4_000;
const newTermMs = 60_000;
const newTermPatience = 4;
/** A primary that restarts for settings writes a checkpoint, and is back long before. */
const restartMsMax = 60_000;

export const rules: readonly Rule[] = [
  {
    name: "paused",
    step: ({ cluster }) =>
      cluster.spec.paused
        ? rest(recheckMs, { reason: "Paused", message: "spec.paused is true, so nothing is changed" })
        : undefined,
  },
  {
    name: "dry run before the first start",
    step: ({ cluster, asked }) =>
      asked.dryRun && cluster.status?.term === undefined
        ? wait("dry run of a new cluster: nothing is created until spec.dryRun is false", recheckMs)
        : undefined,
  },
  {
    name: "instances out of reach",
    step: ({ isOutOfReach }) =>
      isOutOfReach === true ? wait("this process does not reach the instances", recheckMs) : undefined,
  },
  {
    name: "refused before the first start",
    step: ({ cluster, refusals }) =>
      cluster.status?.term === undefined && refusals.length > 0 ? wait(refusalText(refusals), recheckMs) : undefined,
  },
  {
    name: "a Service is taken",
    step: ({ serviceTaken }) =>
      serviceTaken === undefined
        ? undefined
        : wait(
            `Service "${serviceTaken}" belongs to another controller or user; rename the PostgresCluster or remove that Service`,
            10 * recheckMs,
          ),
  },
  { name: "certificates", step: planCertificates },
  {
    name: "the login is taken",
    step: ({ loginTaken }) =>
      loginTaken === undefined
        ? undefined
        : wait(
            `Secret "${loginTaken}" was not made for this cluster; delete or rename it, or rename the PostgresCluster`,
            // Nothing tells of its end: only Secrets with our label are watched.
            10 * recheckMs,
          ),
  },
  {
    name: "login",
    step: ({ hasLogin }) =>
      hasLogin ? undefined : act("createLogin", {}, "the Secret with the login of the application is missing"),
  },
  {
    name: "Services",
    step: ({ servicesToApply }) =>
      servicesToApply.length === 0
        ? undefined
        : act(
            "applyServices",
            { services: servicesToApply },
            `missing or changed: ${servicesToApply.map((name) => `Service "${name}"`).join(", ")}`,
          ),
  },
  {
    name: "disruption budget",
    step: ({ needsBudget }) =>
      needsBudget ? act("applyBudget", {}, "the PodDisruptionBudget is missing or changed") : undefined,
  },
  // What stops all instances for a change of the major version ends before anything else begins.
  { name: "upgrade that holds the instances", step: planHeldUpgrade },
  { name: "restore that waits for fenced instances", step: planHeldRestore },
  { name: "restore", step: planRestore },
  { name: "hibernation", step: planHibernation },
  { name: "waking", step: planWaking },
  { name: "first primary", step: planFirstPrimary },
  // Before its pod comes back: another instance takes over sooner than a server recovers.
  { name: "failed primary", step: planFailure },
  { name: "missing instances", step: planMissing },
  { name: "roles in labels", step: planLabels },
  { name: "handover", step: planHandover },
  { name: "instructions", step: planInstructions },
  { name: "stopped with older settings", step: planBroken },
  { name: "fenced primary", step: planFencedPrimary },
  { name: "waiting for the primary", step: waitForPrimary },
  // Before the wait for replicas: one that lost its node cannot mount such a volume again.
  { name: "volumes that are being deleted", step: planLeavingVolumes },
  { name: "waiting for replicas", step: waitForReplicas },
  { name: "switchover on request", step: planRequest },
  // Nothing that stops or removes another instance comes before.
  { name: "fenced instances", step: planWhileFenced },
  { name: "surplus instances", step: planSurplus },
  { name: "volumes", step: planVolumes },
  // The last ones, because they may wait for a window or for a user.
  { name: "pods", step: planPods },
  { name: "settings that are being read", step: waitForReading },
  { name: "settings that PostgreSQL refuses", step: planRefusedSettings },
  { name: "settings", step: planServers },
  { name: "dry run", step: planDry },
  { name: "upgrade", step: planUpgrade },
];

export function plan(seen: Seen, nowMs: number): PostgresStep {
  for (const rule of rules) {
    const step = rule.step(seen);
    if (step !== undefined) return poolersFirst(seen, step, nowMs);
  }
  const { refusals } = seen;
  return refusals.length === 0
    ? rest(recheckMs)
    : rest(recheckMs, { reason: "FieldsRefused", message: refusalText(refusals) });
}

export function refusalText(refusals: Seen["refusals"]): string {
  return refusals.map(({ field, why }) => `${field}: ${why}`).join("; ");
}

function planCertificates({ certificates, cluster }: Seen): PostgresStep | undefined {
  const { due, problem } = certificates;
  if (due.step !== undefined) return act("maintainCertificates", {}, due.why);
  return problem === undefined || cluster.status?.term !== undefined ? undefined : wait(problem, recheckMs);
}

function planFirstPrimary({ cluster, instances }: Seen): PostgresStep | undefined {
  if (cluster.status?.term !== undefined) return undefined;
  const first = instances[0]?.name ?? "";
  return act("appoint", { primary: first }, `a new cluster begins with ${first}, which creates the data`);
}

function planDry(seen: Seen): PostgresStep | undefined {
  const steps = seen.asked.dryRun ? changeSteps(seen) : [];
  return steps.length === 0
    ? undefined
    : wait(`dry run, set spec.dryRun to false to do it: ${changeText(steps)}`, recheckMs);
}

/** An instance that the spec asks for, or one with data that is not surplus yet, has a pod. */
function planMissing(seen: Seen): PostgresStep | undefined {
  // A pod that is created now would keep a volume that is being deleted, and could not mount it.
  const missing = seen.instances.filter(
    (each) => each.pod === undefined && isWanted(seen, each.name) && !isVolumeLeaving(each),
  );
  if (missing.length === 0) return undefined;
  const names = missing.map(({ name }) => name);
  return act(
    "startInstances",
    { instances: names },
    `${names.join(" and ")} ${names.length === 1 ? "has" : "have"} no pod`,
  );
}

function isWanted(seen: Seen, name: string): boolean {
  const { cluster } = seen;
  if (isWaking(seen)) return name === cluster.status?.primary;
  return numberOf(name) <= cluster.spec.instances || name === cluster.status?.primary;
}

const roleTexts = { primary: "the primary", replica: "a replica", none: "not serving" } as const;

function planLabels(seen: Seen): PostgresStep | undefined {
  const wrong = seen.instances.filter(
    (each) =>
      each.pod !== undefined && each.pod.metadata.deletionTimestamp === undefined && !areLabelsAsWanted(seen, each),
  );
  if (wrong.length === 0) return undefined;
  const text = wrong.map((each) => `${each.name} is ${roleTexts[wantedRole(seen, each)]}`);
  return act("relabel", { instances: wrong.map(({ name }) => name) }, text.join(", "));
}

function areLabelsAsWanted(seen: Seen, instance: SeenInstance): boolean {
  const present = instance.pod?.metadata.labels;
  return Object.entries(wantedLabels(seen, instance)).every(([name, value]) => present?.[name] === value);
}

/** Between two primaries. */
function planHandover(seen: Seen): PostgresStep | undefined {
  const { handover, formerPrimary = "" } = seen.cluster.status ?? {};
  if (handover === undefined) return undefined;
  const isDeciding = (each: SeenInstance): boolean => each.name === formerPrimary || isStandby(each);
  const instructions = planInstructions(seen, isDeciding);
  if (instructions !== undefined) return instructions;
  if (!isFormerStopped(seen))
    return (
      planInstructions(seen) ??
      wait(`${formerPrimary} may still accept writes; its lease ends within seconds`, lookAgainMs)
    );
  const election = elect(seen);
  if (election.kind === "elected") {
    const { instance, lostAtMost } = election;
    const reason = `${instance.name} has received up to ${instance.report?.position}, the most of all`;
    return act("appoint", { primary: instance.name, ...(lostAtMost === undefined ? {} : { lostAtMost }) }, reason);
  }
  // Nobody can take over, and the former primary is there with all data.
  if (election.isBrief !== true && isBack(seen, formerPrimary))
    return act("appoint", { primary: formerPrimary }, `${election.why}, and ${formerPrimary} has the data`);
  return planInstructions(seen) ?? wait(`no instance can take over: ${election.why}`, lookAgainMs);
}

/** Its manager answers, and its data are those of the cluster. */
function isBack(seen: Seen, formerPrimary: string): boolean {
  const { report } = instanceNamed(seen, formerPrimary) ?? {};
  return report?.server === "stopped" && report.data === "present" && report.systemId === seen.cluster.status?.systemID;
}

function planFailure(seen: Seen): PostgresStep | undefined {
  const primary = primaryOf(seen);
  if (primary === undefined || seen.cluster.status?.systemID === undefined || acceptsWrites(primary)) return undefined;
  // A replica that has just been appointed is on its way.
  if (isStandby(primary) || isWaking(seen) || isFenced(seen, primary.name)) return undefined;
  if (!seen.instances.some((each) => each.name !== primary.name && isStandby(each))) return undefined;
  const why = failureOf(seen, primary);
  return why === undefined ? undefined : act("depose", { primary: primary.name, handover: "failover" }, why);
}

function failureOf(seen: Seen, primary: SeenInstance): string | undefined {
  const { name, pod } = primary;
  const state = podState(pod);
  if (state === "missing") return `the pod of the primary ${name} is gone`;
  if (state === "leaving") return `the pod of the primary ${name} is being deleted`;
  if (state === "ended") return `the process of the primary ${name} has ended`;
  const silentMs = lastingMs(seen.memory, silenceOf(primary), seen.monotonicMs) ?? 0;
  const silenceMs =
    primary.report?.isRestarting === true ? Math.max(allowedSilenceMs(seen), restartMsMax) : allowedSilenceMs(seen);
  return silentMs < silenceMs
    ? undefined
    : `the primary ${name} has accepted no writes for ${Math.round(silentMs / 1_000)} s`;
}

/**
 * Where nodes are too busy for their pods, each new primary falls silent, too, and a change of the primary is
 * more work for them. So a new one has more time.
 */
function allowedSilenceMs({ cluster, memory, monotonicMs }: Seen): number {
  const { spec, status } = cluster;
  const silenceMs = (spec.failover?.silenceSeconds ?? defaultSilenceMs / 1_000) * 1_000;
  const termMs = lastingMs(memory, termOf(status?.term ?? 0), monotonicMs) ?? 0;
  return termMs < newTermMs ? newTermPatience * silenceMs : silenceMs;
}

function waitForPrimary(seen: Seen): PostgresStep | undefined {
  const primary = primaryOf(seen);
  if (primary !== undefined && acceptsWrites(primary)) return undefined;
  return wait(
    `${seen.cluster.status?.primary ?? "no instance"} does not accept writes yet${reasonOf(primary)}`,
    lookAgainMs,
  );
}

/** A user deletes the volume of an instance, so that it starts again from a copy. */
function planLeavingVolumes({ cluster, instances }: Seen): PostgresStep | undefined {
  const { primary = "" } = cluster.status ?? {};
  const leaving = instances.filter(
    (each) => isVolumeLeaving(each) && each.pod !== undefined && each.pod.metadata.deletionTimestamp === undefined,
  );
  const replica = leaving.find(({ name }) => name !== primary);
  if (replica !== undefined)
    return act(
      "restartInstance",
      { instance: replica.name },
      `the volume of ${replica.name} is being deleted; it starts again with a copy on a new one`,
    );
  const heir = instances.find((each) => isStreaming(each));
  // Alone, the primary keeps its data while its pod runs.
  if (leaving.length === 0 || heir === undefined) return undefined;
  return act(
    "depose",
    { primary, handover: "switchover", candidate: heir.name },
    `the volume of ${primary} is being deleted; ${heir.name} takes over before`,
  );
}

function isVolumeLeaving({ claim }: SeenInstance): boolean {
  return claim?.metadata.deletionTimestamp !== undefined;
}

function waitForReplicas(seen: Seen): PostgresStep | undefined {
  const { primary } = seen.cluster.status ?? {};
  const waiting = seen.instances.find(
    (each) =>
      each.name !== primary &&
      isWanted(seen, each.name) &&
      !isFenced(seen, each.name) &&
      !(isStreaming(each) && isReady(each)),
  );
  const unready = waiting ?? seen.instances.find((each) => each.name === primary && !isReady(each));
  if (unready === undefined) return undefined;
  const what = unready.name === primary ? "the primary is not ready" : "the replica does not follow the primary";
  return wait(`${unready.name}: ${what}${reasonOf(unready)}`, 2 * lookAgainMs);
}

function reasonOf(instance: SeenInstance | undefined): string {
  const why = instance?.failure ?? instance?.report?.message;
  return why === undefined ? "" : `: ${why}`;
}

function planRequest(seen: Seen): PostgresStep | undefined {
  const wanted = requestedPrimary(seen.cluster);
  const { primary = "" } = seen.cluster.status ?? {};
  if (wanted === undefined) return undefined;
  const candidate = instanceNamed(seen, wanted);
  if (wanted === primary)
    return act("forgetRequest", { why: `${wanted} is the primary already` }, `${wanted} is the primary already`);
  if (candidate === undefined || !isStreaming(candidate)) {
    const why = `${wanted} is no replica of this cluster that follows the primary; use one of ${standbyNames(seen)}`;
    return act("forgetRequest", { why }, why);
  }
  return act(
    "depose",
    { primary, handover: "switchover", candidate: wanted },
    `a user asks for ${wanted} in the place of ${primary}`,
  );
}

function standbyNames({ instances }: Seen): string {
  return (
    instances
      .filter(isStreaming)
      .map(({ name }) => name)
      .join(", ") || "none"
  );
}

function planSurplus(seen: Seen): PostgresStep | undefined {
  const { cluster, instances } = seen;
  const surplus = instances.findLast((each) => hasStarted(each) && numberOf(each.name) > cluster.spec.instances);
  if (surplus === undefined) return undefined;
  const { primary = "" } = cluster.status ?? {};
  if (surplus.name !== primary)
    return act(
      "removeInstance",
      { instance: surplus.name },
      `${instances.length} instances, ${cluster.spec.instances} wanted`,
    );
  const heir = instances.find((each) => isStreaming(each) && numberOf(each.name) <= cluster.spec.instances);
  return heir === undefined
    ? wait(`${primary} is the primary and no other instance can take over`, recheckMs)
    : act(
        "depose",
        { primary, handover: "switchover", candidate: heir.name },
        `${primary} leaves the cluster; ${heir.name} takes over before`,
      );
}

function planVolumes({ cluster, instances }: Seen): PostgresStep | undefined {
  const { size } = cluster.spec.storage;
  const small = instances.find(({ claim }) => {
    const present = claim?.spec?.resources?.requests?.["storage"];
    return present !== undefined && compareQuantities(parseQuantity(present), parseQuantity(size)) < 0;
  });
  return small === undefined
    ? undefined
    : act("growVolume", { instance: small.name, size }, `the volume of ${small.name} is smaller than ${size}`);
}
