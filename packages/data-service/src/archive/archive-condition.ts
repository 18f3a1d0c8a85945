/** The condition of an instance about its archive; pure. */
import type { ConditionInit } from "setpoint";
import type { ArchiveReport } from "./archive-report.ts";
import type { ArchiveGap } from "./archive-window.ts";

/**
 * `Archived`: whether the log of the instance is in its store, without a gap. `report` is undefined while the
 * server has said nothing, and `storeRefusal` says why it is given no store.
 */
export function archivedCondition(report: ArchiveReport | undefined, storeRefusal?: string): ConditionInit {
  const type = "Archived";
  if (storeRefusal !== undefined) return { type, status: "False", reason: "StoreRefused", message: storeRefusal };
  if (report === undefined)
    return { type, status: "Unknown", reason: "NotReported", message: "The server has not reported its archive yet" };
  const { failing, gaps: [gap] = [], gapCount, window } = report;
  if (failing !== undefined)
    return {
      type,
      status: "False",
      reason: "ArchivingFails",
      message: `Nothing is stored since ${failing.since}: ${failing.message}`,
    };
  if (window === undefined)
    return { type, status: "False", reason: "NoBackup", message: "No verified Backup has its log in the archive" };
  const lacks = gap === undefined ? "" : `; the archive lacks ${lackedText(gap, gapCount)}`;
  const range = `Every moment from ${window.from} to ${window.to} can be restored${lacks}`;
  if (window.complete) return { type, status: "True", reason: "Complete", message: range };
  return {
    type,
    status: "False",
    reason: "GapFound",
    message: `${range}. Take a Backup, so that what follows can be restored`,
  };
}

function lackedText({ from, to, timeline }: ArchiveGap, count: number): string {
  const more = count > 1 ? `, and ${count - 1} more` : "";
  return `${from} to ${to} of timeline ${timeline}${more}`;
}
