/** The gauges of each PostgresCluster; the framework has its conditions as `setpoint_object_condition`. */
import type { ObjectMetrics } from "setpoint/sources";
import type { PostgresCluster } from "../kind/postgres-cluster.ts";

const secondMs = 1_000;

export const postgresMetrics: ObjectMetrics<PostgresCluster> = {
  gauges: {
    postgres_cluster_desired_instances: "Instances that the spec asks for.",
    postgres_cluster_instances: "Instances that there are.",
    postgres_cluster_ready_instances: "Instances that are ready.",
    postgres_cluster_fenced_instances: "Instances that a person keeps stopped.",
    postgres_cluster_hibernated: "Whether a person has the cluster hibernate.",
    postgres_cluster_paused: "Whether a person paused the cluster.",
    postgres_cluster_waiting_seconds: "For how long the operator has waited for the same thing; 0 at rest.",
    postgres_cluster_last_failover_timestamp_seconds:
      "When another instance took over after a failure, since the epoch.",
    postgres_cluster_certificates_end_timestamp_seconds: "When the first certificate ends, since the epoch.",
    postgres_cluster_archive_gaps: "Gaps in the archive of the log.",
    postgres_cluster_archive_failing_seconds: "For how long nothing could be archived; 0 when it goes on.",
  },
  values({ spec, status }, nowMs) {
    const { archive, waitingFor, lastFailover, certificatesEnd } = status ?? {};
    return {
      postgres_cluster_desired_instances: spec.instances,
      postgres_cluster_instances: status?.instances,
      postgres_cluster_ready_instances: status?.readyInstances,
      postgres_cluster_fenced_instances: status?.fencing?.members.length ?? 0,
      postgres_cluster_hibernated: spec.hibernated ? 1 : 0,
      postgres_cluster_paused: spec.paused ? 1 : 0,
      postgres_cluster_waiting_seconds: ageSeconds(waitingFor?.since, nowMs),
      postgres_cluster_last_failover_timestamp_seconds: timestampSeconds(lastFailover?.at),
      postgres_cluster_certificates_end_timestamp_seconds: timestampSeconds(certificatesEnd),
      postgres_cluster_archive_gaps: archive?.gapCount,
      postgres_cluster_archive_failing_seconds:
        archive === undefined ? undefined : ageSeconds(archive.failing?.since, nowMs),
    };
  },
};

function ageSeconds(since: string | undefined, nowMs: number): number {
  return since === undefined ? 0 : Math.max(0, (nowMs - Date.parse(since)) / secondMs);
}

function timestampSeconds(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text) / secondMs;
}
