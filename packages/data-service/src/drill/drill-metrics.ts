/**
 * The gauges of each RestoreDrill. Its conditions are exposed by the framework as
 * `setpoint_object_condition`.
 */
import type { ObjectMetrics } from "setpoint/sources";
import type { RestoreDrill } from "../kinds/restore-drill.ts";

const secondMs = 1_000;

export const drillMetrics: ObjectMetrics<RestoreDrill> = {
  gauges: {
    data_restore_drill_recovery_seconds: "The RTO that the newest successful drill measured.",
    data_restore_drill_data_age_seconds: "The RPO that the newest successful drill measured.",
    data_restore_drill_last_succeeded: "Whether the newest drill succeeded: 1 or 0.",
    data_restore_drill_last_age_seconds: "The time since the newest drill.",
  },
  values({ status }, nowMs) {
    const last = status?.history?.[0]?.at;
    return {
      data_restore_drill_recovery_seconds: status?.recoverySeconds,
      data_restore_drill_data_age_seconds: status?.dataAgeSeconds,
      data_restore_drill_last_succeeded:
        status?.lastOutcome === undefined ? undefined : Number(status.lastOutcome === "Succeeded"),
      data_restore_drill_last_age_seconds: last === undefined ? undefined : (nowMs - Date.parse(last)) / secondMs,
    };
  },
};
