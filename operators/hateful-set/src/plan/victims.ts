/** Who may be struck, and who is; pure. */
import { matchesLabelSelector } from "setpoint/kinds";
import { chaosNames } from "../kind/chaos-names.ts";
import { safetyDefaults } from "../kind/hateful-set.ts";
import { anyPod, type TargetSpec } from "../kind/targets.ts";
import type { Seen, SeenPod, SeenTarget } from "../seen/seen.ts";
import { chance, pick } from "./chance.ts";
import { quorumTrouble, troubleOf } from "./health.ts";

/** What an act is about: one pod, or a Service with its pods; all of one target. */
export interface Victim {
  readonly kind: "Pod" | "Service";
  readonly name: string;
  readonly uid: string;
  readonly target: SeenTarget;
  readonly pods: readonly SeenPod[];
  /** What selects these pods, and no others. */
  readonly podLabels: Readonly<Record<string, string>>;
  /** The alternative of the spec that it follows from. */
  readonly wanted: TargetSpec;
}

/** A victim; or who would have to opt in; or why none may be struck now. */
export type Choice = { readonly victim: Victim } | { readonly nobody: string } | { readonly trouble: string };

/** What everything that an act picks by chance follows from. */
export function seedOf({ set }: Seen): string {
  return String(set.spec.seed ?? set.metadata.uid);
}

/** Picks one alternative of the spec, and of those that may be struck one victim. */
export function chooseVictim(seen: Seen, occasion: string): Choice {
  const seed = seedOf(seen);
  const { targets = [anyPod] } = seen.set.spec;
  const wanted = pick(targets, chance(seed, occasion, "target")) ?? anyPod;
  const victims = wanted.service === undefined ? podVictims(seen, wanted) : serviceVictims(seen, wanted);
  if (victims.length === 0) return { nobody: nobody(wanted) };
  const judged = victims.map((victim) => ({ victim, trouble: troubleWith(seen, victim) }));
  const safe = judged.filter(({ trouble }) => trouble === undefined);
  const chosen = pick(safe, chance(seed, occasion, "victim"));
  return chosen === undefined ? { trouble: judged[0]?.trouble ?? "" } : { victim: chosen.victim };
}

function nobody({ type, role, service }: TargetSpec): string {
  const optIn = `set the label ${chaosNames.chaos}=enabled on pods, on their owner or on the namespace`;
  if (service !== undefined) return `the pods of Service ${service} are not of one owner that is opted in: ${optIn}`;
  const whom = role === undefined ? "no pod" : `no pod with the role ${role}`;
  const alone =
    type === "Partition"
      ? " and has a label of its own, as pods of a StatefulSet have and those of a Deployment do not"
      : "";
  return `${whom} is opted in${alone}: ${optIn}`;
}

function podVictims({ set, targets = [] }: Seen, wanted: TargetSpec): readonly Victim[] {
  const { type, role } = wanted;
  const isWanted = (target: SeenTarget, pod: SeenPod): boolean =>
    !target.isGone &&
    pod.isOptedIn &&
    [set.spec.selector, wanted.selector].every((selector) => isSelected(selector, pod)) &&
    (role === undefined || hasRole(target, pod, role)) &&
    (type !== "Partition" || podsWith(targets, pod.pod.metadata.labels ?? {}).length === 1);
  const pairs = targets.flatMap((target) => target.pods.map((pod) => ({ target, pod })));
  return pairs
    .filter(({ target, pod }) => isWanted(target, pod))
    .map(({ target, pod }): Victim => {
      const { name, uid, labels: podLabels = {} } = pod.pod.metadata;
      return { kind: "Pod", name, uid, target, pods: [pod], podLabels, wanted };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A Service is opted in when all of its pods are. */
function serviceVictims({ services, targets = [] }: Seen, wanted: TargetSpec): readonly Victim[] {
  const service = services.find(({ name }) => name === wanted.service);
  if (service === undefined || Object.keys(service.selector).length === 0) return [];
  const pods = podsWith(targets, service.selector);
  const target = targets.find((each) => pods.every((pod) => each.pods.includes(pod)));
  if (target === undefined || target.isGone || pods.length === 0 || !pods.every(({ isOptedIn }) => isOptedIn))
    return [];
  const { name, uid, selector: podLabels } = service;
  return [{ kind: "Service", name, uid, target, pods, podLabels, wanted }];
}

function podsWith(targets: readonly SeenTarget[], labels: Readonly<Record<string, string>>): readonly SeenPod[] {
  return targets.flatMap(({ pods }) => pods.filter((pod) => isSelected({ matchLabels: labels }, pod)));
}

function isSelected(selector: TargetSpec["selector"], { pod }: SeenPod): boolean {
  return selector === undefined || matchesLabelSelector(selector, pod.metadata.labels ?? {});
}

function hasRole({ members }: SeenTarget, { pod, labelRoles }: SeenPod, role: string): boolean {
  const wanted = role.toLowerCase();
  const declared = members.find(({ name }) => name === pod.metadata.name);
  return declared?.role.toLowerCase() === wanted || labelRoles.includes(wanted);
}

/** Why it is not safe to strike now; undefined when it is. */
export function troubleWith({ set }: Seen, { target, pods }: Pick<Victim, "target" | "pods">): string | undefined {
  const safety = { ...safetyDefaults, ...set.spec.safety };
  return (
    (safety.unhealthy === "Wait" ? healthTrouble(target) : undefined) ??
    (safety.quorum === "Respect" ? (unknownMembers(target) ?? quorumTrouble(target, pods)) : undefined) ??
    (safety.budgets === "Respect" ? budgetTrouble(pods) : undefined)
  );
}

function healthTrouble(target: SeenTarget): string | undefined {
  const trouble = troubleOf(target);
  return trouble === undefined ? undefined : `${target.kind} ${target.name} is not healthy: ${trouble}`;
}

function unknownMembers({ unreadable, kind, name }: SeenTarget): string | undefined {
  return unreadable === undefined ? undefined : `the members of ${kind} ${name} are not known: ${unreadable}`;
}

function budgetTrouble(pods: readonly SeenPod[]): string | undefined {
  const all = new Map(pods.flatMap(({ budgets }) => budgets.map((budget) => [budget.name, budget] as const)));
  for (const { name, disruptionsAllowed } of all.values()) {
    const covered = pods.filter(({ budgets }) => budgets.some((budget) => budget.name === name)).length;
    if (covered > disruptionsAllowed)
      return `PodDisruptionBudget ${name} allows ${disruptionsAllowed} disruptions now, and this would be ${covered}`;
  }
  return undefined;
}
