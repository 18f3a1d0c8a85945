/** What an upgrade asks of its instance now, and what its pod has for that; pure. */
import type { WantedUpgrade } from "../../instance/upgrade-protocol.ts";
import { instanceImage } from "../../kind/instance-pod.ts";
import type { Seen } from "../../seen/seen.ts";
import { isPreparing, upgradeOf, type UpgradeStatus } from "../../seen/upgrade.ts";

export function wantedUpgrade(seen: Seen): WantedUpgrade | undefined {
  const upgrade = upgradeOf(seen);
  const step = upgrade === undefined ? undefined : stepOf(seen, upgrade);
  if (upgrade === undefined || step === undefined) return undefined;
  const { id, instance, from, to, timeline = 0 } = upgrade;
  const newest = Math.max(timeline, seen.cluster.status?.lastTimeline ?? 0);
  return { id, instance, from, to, step, timeline: step === "return" ? newest : timeline };
}

function stepOf({ cluster }: Seen, { phase, from }: UpgradeStatus): WantedUpgrade["step"] | undefined {
  switch (phase) {
    case "Checking":
    case "Refused":
      return "check";
    case "Stopping":
      return "stop";
    case "Upgrading":
      return "run";
    case "Returning":
      return cluster.spec.version === from ? "return" : undefined;
    default:
      return undefined;
  }
}

/** The image whose programs the pod of an instance has beside its own; undefined: none. */
export function nextImageOf(seen: Seen, instance: string): string | undefined {
  const upgrade = upgradeOf(seen);
  if (upgrade?.instance !== instance || upgrade.to !== seen.asked.version) return undefined;
  const needs = isPreparing(upgrade) || upgrade.phase === "Stopping" || upgrade.phase === "Upgrading";
  return needs ? instanceImage({ ...seen.cluster, spec: seen.asked }) : undefined;
}
