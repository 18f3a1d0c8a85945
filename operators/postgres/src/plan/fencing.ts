/** Which instances a user keeps stopped, and what their cluster does meanwhile; pure. */
import {
  decideFencing,
  fencedText,
  type FencingDecision,
  fencingRefusalText,
  type SeenFencing,
} from "@setpoint/data-service";
import { wait } from "setpoint";
import { labels } from "../kind/labels.ts";
import { type PostgresCluster, requestedPrimary } from "../kind/postgres-cluster.ts";
import { acceptsWrites, hasStarted, instanceNamed, isStandby, isStreaming, type Seen } from "../seen/seen.ts";
import { changeSteps, changeText } from "./change-plan.ts";
import { act, lookAgainMs, type PostgresStep, recheckMs } from "./postgres-step.ts";

export function fencingOf(seen: Seen): FencingDecision {
  const { restore } = seen;
  const members = seen.instances.filter(hasStarted).map((each) => ({
    name: each.name,
    healthy: acceptsWrites(each) || isStreaming(each),
  }));
  return decideFencing(fencingFacts(seen.cluster, members, restore !== undefined && restore.state !== "done"));
}

export function isFenced(seen: Seen, name: string | undefined): boolean {
  return name !== undefined && fencingOf(seen).fenced.includes(name);
}

/**
 * What decides about fencing. Commits need the primary, and with required synchronous replication so many
 * replicas.
 */
export function fencingFacts(
  cluster: PostgresCluster,
  members: readonly { readonly name: string; readonly healthy: boolean }[],
  isRestoring: boolean,
): SeenFencing {
  const { spec, status } = cluster;
  const { synchronous } = spec;
  return {
    wanted: spec.fencing,
    recorded: status?.fencing,
    members: members.map((each) => ({
      ...each,
      votes: true,
      needed: each.name === status?.primary ? neededText : undefined,
    })),
    quorum: synchronous?.durability === "required" ? 1 + synchronous.number : 1,
    blocked: blockedReason(cluster, isRestoring),
  };
}

const askForAnother = `ask for another primary by the annotation ${labels.switchover}`;
const neededText = `it is the primary, and none takes its place by itself; first ${askForAnother}`;

function blockedReason({ spec, status }: PostgresCluster, isRestoring: boolean): string | undefined {
  if (status?.systemID === undefined) return "the cluster has not started yet";
  if (spec.paused) return "spec.paused is true";
  if (spec.hibernated) return "spec.hibernated is true";
  if (isRestoring) return "a restore is in progress";
  return status.handover === undefined ? undefined : "another instance is becoming the primary";
}

/** A restore replaces the data that a user keeps to look at. */
export function planHeldRestore(seen: Seen): PostgresStep | undefined {
  const { restore } = seen;
  const fenced = restore?.state === "stop" ? fencedText(fencingOf(seen)) : undefined;
  return fenced === undefined ? undefined : wait(`${fenced}; until then restore ${restore?.id} waits`, recheckMs);
}

/** Nobody takes the place of a fenced primary by itself: its user may ask for another one. */
export function planFencedPrimary(seen: Seen): PostgresStep | undefined {
  const { primary } = seen.cluster.status ?? {};
  if (primary === undefined || !isFenced(seen, primary)) return undefined;
  const asked = requestedPrimary(seen.cluster);
  const candidate = instanceNamed(seen, asked);
  if (instanceNamed(seen, primary)?.report?.server === "running")
    return wait(`${primary} is fenced and stops`, lookAgainMs);
  if (candidate !== undefined && isStandby(candidate))
    return act(
      "depose",
      { primary, handover: "switchover", candidate: candidate.name },
      `a user asks for ${candidate.name} in the place of ${primary}, which is fenced`,
    );
  const why = `${asked} is no replica of this cluster that runs`;
  return asked === undefined
    ? wait(
        `${primary} is the primary and fenced: no instance accepts writes; remove it from spec.fencing.members, or ${askForAnother}`,
        recheckMs,
      )
    : act("forgetRequest", { why }, why);
}

/** An instance fewer may fail, so nothing that stops or removes another one begins. */
export function planWhileFenced(seen: Seen): PostgresStep | undefined {
  const decision = fencingOf(seen);
  const fenced = fencedText(decision);
  if (fenced === undefined) return undefined;
  const steps = seen.asked.dryRun ? changeSteps(seen) : [];
  const held = steps.length === 0 ? undefined : `a dry run plans: ${changeText(steps)}`;
  const parts = [fenced, held, fencingRefusalText(decision)].filter((text) => text !== undefined);
  return wait(parts.join("; "), recheckMs);
}
