/**
 * The whole way from the spec in force to the one that is asked for, before anything of it happens; pure. The
 * rules take one step at a time and look again; this says which steps follow from the present state.
 */
import type { PlannedStep } from "@setpoint/data-service";
import { onDataVersion } from "../kind/data-version.ts";
import { settingsOf } from "../kind/desired.ts";
import { instanceImage } from "../kind/instance-pod.ts";
import { numberOf } from "../kind/names.ts";
import type { PostgresCluster } from "../kind/postgres-cluster.ts";
import { restartParameters } from "../kind/restart-parameters.ts";
import { type ServerLimits, lowerThan, serverLimits } from "../instance/server-limits.ts";
import { hasStarted, type Seen } from "../seen/seen.ts";
import { versionSteps } from "./upgrade/version-steps.ts";

const none = "none";
const replicaAway = "none; while it restarts, one replica fewer answers reads and commits";
/** Measured on real servers: a checkpoint, the rest of the log, and a promotion. */
const handOver = "writes wait for some seconds; open connections to the primary end";
const outage = "reads and writes of the primary fail until it serves again, some seconds";

const hibernateStep: PlannedStep = {
  action: "Hibernate",
  reason: "the cluster hibernates: replicas stop, then the primary, and all keep their volumes",
  interruption: "reads and writes fail until spec.hibernated is false again",
};
const wakeStep: PlannedStep = {
  action: "Wake",
  reason: "spec.hibernated is false: the primary starts, then its replicas, and what else has changed follows",
  interruption: none,
};

interface Change {
  readonly before: PostgresCluster;
  readonly after: PostgresCluster;
  readonly primary: string;
  /** The last number first, as the rules take them. */
  readonly replicas: readonly string[];
}

/** In order. Repairs are no part of it: they follow from what breaks. */
export function changeSteps(seen: Seen): readonly PlannedStep[] {
  const change = changeOf(seen);
  const { hibernated } = seen.asked;
  if (seen.cluster.spec.hibernated) return hibernated ? [] : [wakeStep];
  if (hibernated) return [hibernateStep];
  return [
    ...fencingSteps(change),
    ...reloadSteps(change),
    ...sizeSteps(change, seen),
    ...volumeSteps(change),
    ...podSteps(change),
    ...serverSteps(change),
    ...versionSteps(seen, change.replicas),
  ];
}

/** One line a step, for people. */
export function changeText(steps: readonly PlannedStep[]): string {
  return steps
    .map(({ action, member }, index) => `${index + 1}. ${action}${member === undefined ? "" : ` ${member}`}`)
    .join("; ");
}

function changeOf({ cluster, asked, instances }: Seen): Change {
  const primary = cluster.status?.primary ?? "";
  const kept = instances.filter((each) => hasStarted(each) && numberOf(each.name) <= asked.instances);
  return {
    before: cluster,
    // The version changes last, and brings its image.
    after: { ...cluster, spec: onDataVersion(asked, cluster) },
    primary,
    replicas: kept
      .map(({ name }) => name)
      .filter((name) => name !== primary)
      .toReversed(),
  };
}

type ParameterChange = { readonly name: string; readonly text: string };

function parameterChanges({ before, after }: Change): readonly ParameterChange[] {
  const [from, to] = [settingsOf(before, []).parameters, settingsOf(after, []).parameters];
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])].filter((name) => from[name] !== to[name]);
  return names
    .toSorted()
    .map((name) => ({ name, text: `${name} ${from[name] ?? "(default)"} becomes ${to[name] ?? "(default)"}` }));
}

function needsRestart({ name }: ParameterChange): boolean {
  return restartParameters.includes(name);
}

function reloadSteps(change: Change): readonly PlannedStep[] {
  const { before, after } = change;
  const [from, to] = [settingsOf(before, []), settingsOf(after, [])];
  const reloaded = parameterChanges(change).filter((each) => !needsRestart(each));
  const reasons = [
    ...reloaded.map(({ text }) => text),
    ...(JSON.stringify(from.accessRules) === JSON.stringify(to.accessRules) ? [] : ["spec.accessRules has changed"]),
    ...(isSame(before.spec.synchronous, after.spec.synchronous) ? [] : ["spec.synchronous has changed"]),
  ];
  if (reasons.length === 0) return [];
  const reason = `all servers read their settings again: ${reasons.join(", ")}`;
  return [{ action: "Reload", reason, interruption: none }];
}

function fencingSteps({ before, after, primary }: Change): readonly PlannedStep[] {
  const [from, to] = [before, after].map(({ spec }) => spec.fencing?.members ?? []);
  const added = (to ?? []).filter((member) => from?.includes(member) !== true);
  const removed = (from ?? []).filter((member) => to?.includes(member) !== true);
  return [
    ...added.map((member) => ({
      action: "Fence",
      member,
      reason: "its server stops, and its pod and volume stay",
      interruption: member === primary || member === "*" ? "writes fail until it is released" : replicaAway,
    })),
    ...removed.map((member) => ({ action: "Unfence", member, reason: "its server starts again", interruption: none })),
  ];
}

function sizeSteps({ before, after, primary }: Change, { instances }: Seen): readonly PlannedStep[] {
  const reason = `${before.spec.instances} instances, ${after.spec.instances} wanted`;
  const added = Array.from({ length: Math.max(0, after.spec.instances - before.spec.instances) }, (_, at) => ({
    action: "AddInstance",
    member: `${before.metadata.name}-${before.spec.instances + at + 1}`,
    reason: `${reason}: it copies the data of ${primary} and follows it`,
    interruption: none,
  }));
  const surplus = instances.filter((each) => hasStarted(each) && numberOf(each.name) > after.spec.instances);
  const removed = surplus.toReversed().flatMap(({ name }): readonly PlannedStep[] => [
    ...(name === primary ? [switchover(name, "it leaves the cluster")] : []),
    {
      action: "RemoveInstance",
      member: name,
      reason,
      interruption: none,
      noReturn: `the volume of ${name} is deleted; the other instances have the data`,
    },
  ]);
  return [...added, ...removed];
}

function volumeSteps({ before, after, primary, replicas }: Change): readonly PlannedStep[] {
  const { size } = after.spec.storage;
  if (size === before.spec.storage.size) return [];
  return [...replicas, primary].map((member) => ({
    action: "GrowVolume",
    member,
    reason: `the volume becomes ${size}`,
    interruption: none,
    noReturn: "a volume cannot shrink",
  }));
}

/** Replicas first; the primary hands over before its pod is made again. */
function podSteps(change: Change): readonly PlannedStep[] {
  const { primary, replicas } = change;
  const reasons = podReasons(change);
  if (reasons.length === 0) return [];
  const restart = (member: string, interruption: string): PlannedStep => ({
    action: "RestartInstance",
    member,
    reason: reasons.join(", "),
    interruption,
  });
  return [
    ...replicas.map((each) => restart(each, replicaAway)),
    ...(replicas.length === 0
      ? []
      : [switchover(primary, `${heirOf(replicas)} takes over, and its pod is made again last`)]),
    restart(primary, replicas.length === 0 ? outage : replicaAway),
  ];
}

function podReasons(change: Change): readonly string[] {
  const { before, after } = change;
  const [from, to] = [instanceImage(before), instanceImage(after)];
  return [
    ...(from === to ? [] : [`image ${from} becomes ${to}`]),
    ...(isSame(before.spec.resources, after.spec.resources) ? [] : ["spec.resources has changed"]),
    ...(isSame(before.spec.archive, after.spec.archive) ? [] : ["spec.archive has changed"]),
  ];
}

/** Of settings only; a new pod brings its own, but for what the primary has to lower before replicas can. */
function serverSteps(change: Change): readonly PlannedStep[] {
  const { before, after, replicas } = change;
  const hasNewPods = podReasons(change).length > 0;
  const changes = parameterChanges(change).filter(needsRestart);
  const lowered = new Set<string>(lowerThan(settingsOf(after, []).parameters, limitsOf(before)));
  const low = changes.filter(({ name }) => lowered.has(name));
  const rest = hasNewPods ? [] : changes.filter(({ name }) => !lowered.has(name));
  return [
    ...(rest.length === 0 ? [] : replicas.map((each) => restartServer(each, rest, replicaAway))),
    ...(low.length === 0 ? primarySteps(change, rest) : lowerSteps(change, hasNewPods, low, [...low, ...rest])),
  ];
}

function primarySteps(
  { after, primary, replicas }: Change,
  changes: readonly ParameterChange[],
): readonly PlannedStep[] {
  if (changes.length === 0) return [];
  const inPlace = replicas.length === 0 || after.spec.primaryUpdate === "restart";
  if (inPlace) return [restartServer(primary, changes, outage)];
  const text = changes.map((each) => each.text).join(", ");
  return [switchover(primary, `${heirOf(replicas)} takes over, and its server restarts as a replica: ${text}`)];
}

function lowerSteps(
  { primary, replicas }: Change,
  hasNewPods: boolean,
  low: readonly ParameterChange[],
  all: readonly ParameterChange[],
): readonly PlannedStep[] {
  const leader = hasNewPods ? (heirOf(replicas) ?? primary) : primary;
  const others = [primary, ...replicas].filter((each) => each !== leader);
  const ordered = others.toSorted((a, b) => numberOf(b) - numberOf(a));
  return [restartServer(leader, all, outage), ...ordered.map((each) => restartServer(each, low, replicaAway))];
}

/** As the rules choose among replicas that all follow. */
function heirOf(replicas: readonly string[]): string | undefined {
  return replicas.at(-1);
}

function restartServer(member: string, changes: readonly ParameterChange[], interruption: string): PlannedStep {
  return { action: "RestartServer", member, reason: changes.map(({ text }) => text).join(", "), interruption };
}

function switchover(member: string, reason: string): PlannedStep {
  return { action: "Switchover", member, reason, interruption: handOver };
}

function limitsOf(cluster: PostgresCluster): ServerLimits {
  const { parameters } = settingsOf(cluster, []);
  return Object.fromEntries(serverLimits.map((name) => [name, Number(parameters[name])]));
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}
