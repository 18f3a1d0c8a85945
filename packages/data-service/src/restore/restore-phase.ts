import type { Restore } from "../kinds/restore.ts";

export function isRestoreFinished({ status }: Restore): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

export function hasBegun({ status }: Restore): boolean {
  return status !== undefined && status.phase !== "Pending";
}

/** Whether members of the instance are stopped or started for it; in any phase after these, they are. */
export function isTouching(restore: Restore): boolean {
  const { phase } = restore.status ?? {};
  return hasBegun(restore) && phase !== "Verifying" && phase !== "SavingPresent";
}

/** The instance that gets the data. */
export function targetName({ spec }: Restore): string {
  return spec.newInstance?.name ?? spec.instance.name;
}
