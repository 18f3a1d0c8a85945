/** Facts of a change of the major version. */
import type { PostgresCluster } from "../kind/postgres-cluster.ts";
import { instanceNamed, type Seen, type SeenInstance } from "./seen.ts";

export type UpgradeStatus = NonNullable<NonNullable<PostgresCluster["status"]>["upgrade"]>;

const hourMs = 3_600_000;
const weekHours = 168;
/** Between the first instance that stops and the first write of the new version, or back. */
const holding: readonly UpgradeStatus["phase"][] = ["Stopping", "Upgrading", "Starting", "Returning"];
const preparing: readonly UpgradeStatus["phase"][] = ["Preparing", "Checking", "Refused"];

export function upgradeOf({ cluster }: Seen): UpgradeStatus | undefined {
  return cluster.status?.upgrade;
}

/** Whether the upgrade alone decides what happens to the instances. */
export function isUpgradeHolding({ status }: PostgresCluster): boolean {
  return status?.upgrade !== undefined && holding.includes(status.upgrade.phase);
}

export function isPreparing({ phase }: UpgradeStatus): boolean {
  return preparing.includes(phase);
}

/** The instance whose data are upgraded. */
export function upgradedInstance(seen: Seen): SeenInstance | undefined {
  return instanceNamed(seen, upgradeOf(seen)?.instance);
}

/** The upgrade's instance neither stops nor upgrades, and does not say why. */
export const upgradeSilence = "upgrade is silent";

/** The upgrade is in this phase, as long as this process knows. */
export function upgradePhase(phase: UpgradeStatus["phase"]): string {
  return `upgrade ${phase}`;
}

export function upgradeMatters({ status }: PostgresCluster, instances: readonly SeenInstance[]): readonly string[] {
  const { upgrade } = status ?? {};
  if (upgrade === undefined) return [];
  const isSilent = instances.find(({ name }) => name === upgrade.instance)?.report === undefined;
  return [upgradePhase(upgrade.phase), ...(isSilent ? [upgradeSilence] : [])];
}

/** When the data from before an upgrade go. */
export function safetyCopyEnds({ spec }: PostgresCluster, upgradedAt: string): string {
  const hours = spec.upgrade?.safetyCopyHours ?? weekHours;
  return new Date(Date.parse(upgradedAt) + hours * hourMs).toISOString();
}

export function isSafetyCopyOver(cluster: PostgresCluster, nowMs: number): boolean {
  const { phase, upgradedAt } = cluster.status?.upgrade ?? {};
  if (phase !== "Completed" || upgradedAt === undefined) return false;
  return Date.parse(safetyCopyEnds(cluster, upgradedAt)) <= nowMs;
}
