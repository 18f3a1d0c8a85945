/** What the status says of the major version of the data, before the step that changes it; pure. */
import type { StepFacts } from "setpoint";
import type { PostgresCluster } from "../kind/postgres-cluster.ts";
import type { PostgresStep } from "../plan/postgres-step.ts";
import type { Seen } from "../seen/seen.ts";
import { safetyCopyEnds, upgradedInstance, type UpgradeStatus } from "../seen/upgrade.ts";
import { present } from "./present.ts";

type Status = NonNullable<PostgresCluster["status"]>;

export function versionStatus(
  seen: Seen,
  step: PostgresStep,
  facts: StepFacts,
): Pick<Status, "dataVersion" | "dataImage" | "upgrade"> {
  const upgrade = upgradeStatusOf(seen, step, facts);
  if (step.kind === "act" && step.action === "startOnVersion")
    return present({ dataVersion: step.args.version, dataImage: step.args.image, upgrade });
  const { spec, status } = seen.cluster;
  if (status?.term === undefined) return {};
  return present({ dataVersion: spec.version, dataImage: spec.image, upgrade });
}

function upgradeStatusOf(seen: Seen, step: PostgresStep, { now }: StepFacts): UpgradeStatus | undefined {
  if (step.kind !== "act") return withSafetyCopy(seen);
  if (step.action === "startOnVersion") return step.args.upgrade;
  if (step.action !== "advanceUpgrade") return withSafetyCopy(seen);
  const { upgrade } = step.args;
  if (upgrade?.phase === "Preparing") return { ...upgrade, startedAt: now };
  if (upgrade?.phase !== "Analyzing") return upgrade;
  const { instance, from } = upgrade;
  const safetyCopy = { instance, version: from, until: safetyCopyEnds(seen.cluster, now) };
  return { ...upgrade, upgradedAt: now, safetyCopy };
}

/** Only the instance that has it knows; its silence takes nothing back. */
function withSafetyCopy(seen: Seen): UpgradeStatus | undefined {
  const { upgrade } = seen.cluster.status ?? {};
  if (upgrade?.safetyCopy === undefined || upgrade.upgradedAt === undefined) return upgrade;
  const { report } = upgradedInstance(seen) ?? {};
  const { safetyCopy, ...rest } = upgrade;
  if (report !== undefined && report.safetyCopy !== safetyCopy.version) return rest;
  return { ...rest, safetyCopy: { ...safetyCopy, until: safetyCopyEnds(seen.cluster, upgrade.upgradedAt) } };
}
