/** Whether a target is healthy, in its own words and by its pods; undefined says yes. */
import { hasVoters, type SeenPod, type SeenTarget } from "../seen/seen.ts";

/** Conditions that say what a target is good for. */
const goodConditions: ReadonlySet<string> = new Set(["Available", "Ready"]);

export function troubleOf(target: SeenTarget): string | undefined {
  return target.unreadable ?? troubleOfPods(target) ?? troubleOfMembers(target) ?? troubleOfConditions(target);
}

function troubleOfPods({ pods, size }: SeenTarget): string | undefined {
  const ready = pods.filter(({ isReady, isEnding }) => isReady && !isEnding).length;
  const wanted = Math.max(size ?? 0, pods.length);
  return ready < wanted ? `${ready} of ${wanted} pods are ready` : undefined;
}

function troubleOfMembers({ members, size = 0 }: SeenTarget): string | undefined {
  if (members.length === 0) return undefined;
  const healthy = members.filter((member) => member.healthy !== false && member.role !== "Unknown").length;
  const wanted = Math.max(members.length, size);
  return healthy < wanted ? `${healthy} of ${wanted} members are healthy` : undefined;
}

function troubleOfConditions({ conditions }: SeenTarget): string | undefined {
  const bad = conditions.find(({ type, status }) =>
    goodConditions.has(type) ? status !== "True" : type === "Degraded" && status === "True",
  );
  return bad === undefined ? undefined : `${bad.type} is ${bad.status} (${bad.reason})`;
}

/** Why these pods may not be taken from their members now: too few would remain. */
export function quorumTrouble(target: SeenTarget, pods: readonly SeenPod[]): string | undefined {
  if (target.members.length === 0) return undefined;
  const counted = hasVoters(target) ? target.members.filter(({ role }) => role !== "Learner") : target.members;
  const needed = hasVoters(target) ? Math.floor(counted.length / 2) + 1 : 1;
  const taken = new Set(pods.map(({ pod }) => pod.metadata.name));
  const left = counted.filter(({ name, healthy }) => healthy !== false && !taken.has(name)).length;
  if (left >= needed) return undefined;
  return `${target.kind} ${target.name} would have ${left} healthy members without ${[...taken].join(", ")}, and needs ${needed}`;
}
