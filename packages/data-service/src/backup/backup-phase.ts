import type { Backup } from "../kinds/backup.ts";

export function isFinished({ status }: Backup): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** Whether a transfer of it has begun, and none has ended it. */
export function hasBegun({ status }: Backup): boolean {
  return status?.phase === "Running" || status?.phase === "Verifying";
}
