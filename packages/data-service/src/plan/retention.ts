/** Which backups of a plan are kept; pure. */
import { parseDuration } from "setpoint";
import type { Backup } from "../kinds/backup.ts";
import type { BackupPlan } from "../kinds/backup-plan.ts";

/** Failed Backups older than the newest good one are kept for their messages, this many. */
const failedKept = 3;

/** Whether its stored data were read back; only such a backup protects anything. */
export function isGood({ status, metadata }: Backup): boolean {
  return status?.phase === "Succeeded" && status.verifiedAt !== undefined && metadata.deletionTimestamp === undefined;
}

/**
 * The newest first: by the time that the data are of, then by the engine's position. A restore in place sets
 * positions back, so the time decides; names say nothing.
 */
export function newestFirst<T extends Backup>(backups: readonly T[]): readonly T[] {
  return backups.toSorted(
    (a, b) => timeOf(b) - timeOf(a) || comparePositions(b.status?.position ?? "", a.status?.position ?? ""),
  );
}

function timeOf({ status, metadata }: Backup): number {
  return Date.parse(status?.takenAt ?? metadata.creationTimestamp ?? "");
}

/** Decimal revisions, or PostgreSQL's two hexadecimal halves. */
export function comparePositions(a: string, b: string): number {
  const difference = positionNumber(a) - positionNumber(b);
  return difference < 0n ? -1 : Number(difference > 0n);
}

function positionNumber(position: string): bigint {
  const halves = /^([0-9A-F]+)\/([0-9A-F]+)$/i.exec(position);
  if (halves !== null) return (BigInt(`0x${halves[1]}`) << 32n) + BigInt(`0x${halves[2]}`);
  return /^\d+$/.test(position) ? BigInt(position) : -1n;
}

/** Backups that may be deleted now. `inUse` has the names of those that a restore reads. */
export function expiredBackups<T extends Backup>(
  backups: readonly T[],
  { keepLast, keepFor }: BackupPlan["spec"]["retention"],
  inUse: ReadonlySet<string>,
  nowMs: number,
): readonly T[] {
  const good = newestFirst(backups.filter(isGood));
  const count = Math.max(keepLast ?? 0, 1);
  // Nothing of a plan that keeps neither by number nor by age expires.
  const isUnlimited = keepLast === undefined && keepFor === undefined;
  const youngMs = keepFor === undefined ? Infinity : nowMs - parseDuration(keepFor);
  const expired = good.filter((each, at) => at >= count && timeOf(each) < youngMs);
  const [newest] = good;
  const failed = newestFirst(backups.filter(({ status }) => status?.phase === "Failed"));
  const failedOld =
    newest === undefined ? [] : failed.slice(failedKept).filter((each) => timeOf(each) < timeOf(newest));
  return [...(isUnlimited ? [] : expired), ...failedOld].filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined && !inUse.has(metadata.name ?? ""),
  );
}
