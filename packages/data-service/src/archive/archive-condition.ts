/** The condition of an instance about its archive; pure. */
import type { ConditionInit } from "setpoint";
import type { ArchiveReport } from "./archive-report.ts";

/**
 * `Archived`: whether the log of the instance is in its store, without a gap. `report` is undefined while the
 * server has said nothing.
 */
export function archivedCondition(report: ArchiveReport | undefined): ConditionInit {
  const type = "Archived";
  if (report === undefined)
    return { type, status: "Unknown", reason: "NotReported", message: "The server has not reported its archive yet" };
  const { failing, gaps: [gap] = [], gapCount = 0, window } = report;
  if (failing !== undefined)
    return {
      type,
      status: "False",
      reason: "ArchivingFails",
      message: `Nothing is stored since ${failing.since}: ${failing.message}`,
    };
  if (gap !== undefined)
    return {
      type,
      status: "False",
      reason: "GapFound",
      message: `The archive lacks ${gap.from} to ${gap.to} of timeline ${gap.timeline}${gapCount > 1 ? `, and ${gapCount - 1} more` : ""}; take a Backup, so that what follows can be restored`,
    };
  if (window === undefined)
    return { type, status: "False", reason: "NoBackup", message: "No verified Backup has its log in the archive" };
  return {
    type,
    status: "True",
    reason: "Complete",
    message: `Every moment from ${window.from} to ${window.to} can be restored`,
  };
}
