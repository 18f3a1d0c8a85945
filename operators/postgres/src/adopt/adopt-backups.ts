/** Backups and BackupPlans, of Backups and ScheduledBackups. */
import type { Report } from "./difference.ts";
import { compareFields } from "./field-table.ts";
import type { Fields } from "./fields.ts";
import { clusterNameOf, type InputObject } from "./input-object.ts";
import { compareMetadata, dataVersion, instanceNamed, madeOf, type OutputObject } from "./output-object.ts";
import { backupTable, scheduledBackupTable } from "./other-tables.ts";

/** What the Cluster of a Backup says about backups; without `store`, no file has a BackupStore for it. */
export interface ClusterBackups {
  readonly store?: string;
  readonly retentionPolicy?: string;
}

export function adoptBackup(input: InputObject, cluster: ClusterBackups, report: Report): readonly OutputObject[] {
  compareMetadata(input, report);
  compareFields(backupTable, input.spec.value, "spec", report);
  const name = clusterNameOf(input);
  report.add("", "changed", "it takes a new backup of the new cluster when it is applied; data of Barman are not read");
  const spec = { instance: instanceNamed(name), store: storeOf(name, cluster, report), deletionPolicy: "Retain" };
  return [madeOf(input, { apiVersion: dataVersion, kind: "Backup" }, spec)];
}

export function adoptSchedule(input: InputObject, cluster: ClusterBackups, report: Report): readonly OutputObject[] {
  compareMetadata(input, report);
  compareFields(scheduledBackupTable, input.spec.value, "spec", report);
  const { spec } = input;
  const name = clusterNameOf(input);
  const written = {
    instance: instanceNamed(name),
    store: storeOf(name, cluster, report),
    schedule: scheduleOf(spec.requiredText("schedule"), report),
    retention: retentionOf(cluster.retentionPolicy, report),
    suspend: spec.boolean("suspend"),
  };
  return [madeOf(input, { apiVersion: dataVersion, kind: "BackupPlan" }, written)];
}

function storeOf(cluster: string, { store }: ClusterBackups, report: Report): string {
  if (store !== undefined) return store;
  const name = `${cluster}-store`;
  const why = `no object store of Cluster "${cluster}" is in the files; "${name}" is written`;
  report.add("spec.cluster", "byHand", why, "write a BackupStore of this name");
  return name;
}

/** Go's cron has `@every`, and that of a BackupPlan has not. */
function scheduleOf(schedule: string, report: Report): string {
  const [, text] = /^@every\s+(.*)$/.exec(schedule) ?? [];
  if (text === undefined) return schedule;
  const written = cronOf(text.replaceAll(/\b0[ms]/g, ""));
  const why = `a BackupPlan has no "${schedule}"; ${written ?? "@daily"} is written`;
  if (written === undefined) report.add("spec.schedule", "byHand", why, "set a cron line");
  else report.add("spec.schedule", "changed", `${why}, which counts from midnight`);
  return written ?? "@daily";
}

/** `6h` is a line of cron, and `7h` is none. */
function cronOf(duration: string): string | undefined {
  const [, count = "", unit] = /^(\d+)([hm])$/.exec(duration) ?? [];
  const every = Number(count);
  if (unit === "h" && every === 24) return "@daily";
  if (unit === "h" && every > 0 && 24 % every === 0) return `0 */${every} * * *`;
  return unit === "m" && every > 0 && 60 % every === 0 ? `*/${every} * * * *` : undefined;
}

const hoursOf: Readonly<Record<string, number>> = { d: 24, w: 168, m: 744 };
/** As many as a BackupPlan counts. */
const keepLastMax = 1_000;

function retentionOf(policy: string | undefined, report: Report): object {
  const keepFor = keepForOf(policy);
  if (keepFor !== undefined) return { keepFor };
  report.add("", "changed", `nothing limits how long backups are kept; a BackupPlan keeps the last ${keepLastMax}`);
  return { keepLast: keepLastMax };
}

function keepForOf(policy: string | undefined): string | undefined {
  const [, count, unit = ""] = /^([1-9]\d*)([dwm])$/.exec(policy ?? "") ?? [];
  const hours = hoursOf[unit];
  return count === undefined || hours === undefined ? undefined : `${Number(count) * hours}h`;
}

/** Of a Cluster; `isScheduled`: a ScheduledBackup of the files is about it. */
export function compareRetention(backup: Fields, isScheduled: boolean, report: Report): void {
  const policy = backup.text("retentionPolicy");
  if (policy === undefined) return;
  const path = backup.at("retentionPolicy");
  const keepFor = keepForOf(policy);
  if (keepFor === undefined)
    report.add(path, "byHand", `"${policy}" is no retention: expected a number and d, w or m`, "set it in BackupPlans");
  else if (isScheduled)
    report.add(
      path,
      "changed",
      `BackupPlans keep good backups for ${keepFor}, and always the newest; the archived log is never deleted`,
      "watch the size of the store",
    );
  else
    report.add(
      path,
      "byHand",
      "it belongs to a BackupPlan, and no ScheduledBackup is in the files",
      `write a BackupPlan with retention.keepFor: ${keepFor}`,
    );
}
