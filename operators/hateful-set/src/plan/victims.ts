/** Who may be struck, and who is; pure. */
import { matchesLabelSelector } from "setpoint/kinds";
import { chaosNames } from "../kind/chaos-names.ts";
import { safetyDefaults } from "../kind/hateful-set.ts";
import { anyPod, type TargetSpec } from "../kind/targets.ts";
import type { Seen, SeenPod, SeenTarget } from "../seen/seen.ts";
import { chance, pick } from "./chance.ts";
import { quorumTrouble, troubleOf } from "./health.ts";

export interface Victim {
  readonly target: SeenTarget;
  readonly pod: SeenPod;
  readonly type: TargetSpec["type"];
  readonly role: string | undefined;
}

/** A victim; or who would have to opt in; or why none may be struck now. */
export type Choice = { readonly victim: Victim } | { readonly nobody: string } | { readonly trouble: string };

/** What everything that an act picks by chance follows from. */
export function seedOf({ set }: Seen): string {
  return String(set.spec.seed ?? set.metadata.uid);
}

/** Picks one alternative of the spec, and of those that may be struck one pod. */
export function chooseVictim(seen: Seen, occasion: string): Choice {
  const seed = seedOf(seen);
  const { targets = [anyPod] } = seen.set.spec;
  const wanted = pick(targets, chance(seed, occasion, "target")) ?? anyPod;
  const victims = victimsOf(seen, wanted);
  if (victims.length === 0) return { nobody: nobody(wanted) };
  const judged = victims.map((victim) => ({ victim, trouble: troubleWith(seen, victim) }));
  const safe = judged.filter(({ trouble }) => trouble === undefined);
  const chosen = pick(safe, chance(seed, occasion, "victim"));
  return chosen === undefined ? { trouble: judged[0]?.trouble ?? "" } : { victim: chosen.victim };
}

function nobody({ role }: TargetSpec): string {
  const whom = role === undefined ? "no pod" : `no pod with the role ${role}`;
  return `${whom} is opted in: set the label ${chaosNames.chaos}=enabled on pods, on their owner or on the namespace`;
}

function victimsOf({ set, targets = [] }: Seen, wanted: TargetSpec): readonly Victim[] {
  const { type, role } = wanted;
  const isWanted = (target: SeenTarget, pod: SeenPod): boolean =>
    !target.isGone &&
    pod.isOptedIn &&
    [set.spec.selector, wanted.selector].every((selector) => isSelected(selector, pod)) &&
    (role === undefined || hasRole(target, pod, role));
  const pairs = targets.flatMap((target) => target.pods.map((pod) => ({ target, pod, type, role })));
  return pairs.filter(({ target, pod }) => isWanted(target, pod)).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

function nameOf({ pod }: Victim): string {
  return pod.pod.metadata.name;
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
export function troubleWith({ set }: Seen, { target, pod }: Pick<Victim, "target" | "pod">): string | undefined {
  const safety = { ...safetyDefaults, ...set.spec.safety };
  return (
    (safety.unhealthy === "Wait" ? healthTrouble(target) : undefined) ??
    (safety.quorum === "Respect" ? (unknownMembers(target) ?? quorumTrouble(target, pod)) : undefined) ??
    (safety.budgets === "Respect" ? budgetTrouble(pod) : undefined)
  );
}

function healthTrouble(target: SeenTarget): string | undefined {
  const trouble = troubleOf(target);
  return trouble === undefined ? undefined : `${target.kind} ${target.name} is not healthy: ${trouble}`;
}

function unknownMembers({ unreadable, kind, name }: SeenTarget): string | undefined {
  return unreadable === undefined ? undefined : `the members of ${kind} ${name} are not known: ${unreadable}`;
}

function budgetTrouble({ pod, budgets }: SeenPod): string | undefined {
  const full = budgets.find(({ disruptionsAllowed }) => disruptionsAllowed < 1);
  if (full === undefined) return undefined;
  return `PodDisruptionBudget ${full.name} allows no disruption of ${pod.metadata.name} now`;
}
