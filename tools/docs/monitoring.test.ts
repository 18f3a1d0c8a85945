/**
 * The alerts and the dashboard of the etcd operator speak of metrics that exist, and each alert has its
 * runbook.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { backupPlanMetrics } from "../../packages/data-service/src/plan/plan-metrics.ts";
import { etcdMetrics } from "../../operators/etcd/src/etcd-metrics.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}

const rules = parse(read("operators/etcd/monitoring/alerts.yaml")) as {
  readonly spec: { readonly groups: readonly { readonly rules: readonly Alert[] }[] };
};
const alerts = rules.spec.groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(read("operators/etcd/monitoring/dashboard.json")) as {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
};

/** What etcd 3.4 and later expose of themselves. */
const membersOwn = [
  "etcd_disk_wal_fsync_duration_seconds_bucket",
  "etcd_mvcc_db_total_size_in_bytes",
  "etcd_mvcc_db_total_size_in_use_in_bytes",
  "etcd_server_leader_changes_seen_total",
  "etcd_server_quota_backend_bytes",
  "grpc_server_handled_total",
  "grpc_server_handling_seconds_bucket",
];
const frameworks = [
  "controller_runtime_max_concurrent_reconciles",
  "controller_runtime_reconcile_errors_total",
  "controller_runtime_reconcile_total",
  "setpoint_object_condition",
];
const known = new Set([
  ...Object.keys(etcdMetrics.gauges),
  ...Object.keys(backupPlanMetrics.gauges),
  ...membersOwn,
  ...frameworks,
]);

function metricsOf(expression: string): readonly string[] {
  return [...expression.matchAll(/\b(?:data|etcd|grpc_server|controller_runtime|setpoint)_[a-z_]+/g)].map(
    ([name]) => name,
  );
}

test.each(alerts.map((alert) => [alert.alert, alert] as const))(
  "alert %s can fire and says what to do",
  (name, alert) => {
    expect(metricsOf(alert.expr)).not.toEqual([]);
    expect(metricsOf(alert.expr).filter((metric) => !known.has(metric))).toEqual([]);
    expect(["critical", "warning"]).toContain(alert.labels.severity);
    expect(alert.annotations["summary"]).toMatch(/^[A-Z].+[^.]$/);
    expect(alert.annotations["runbook_url"]).toBe(`docs/runbooks/${name}.md`);
    const runbook = read(`docs/runbooks/${name}.md`);
    for (const heading of [`# ${name}`, "## Meaning", "## Diagnosis", "## What to do"])
      expect(runbook).toContain(heading);
  },
);

test("a cluster that is down is critical, and one that is degraded a warning", () => {
  const severityOf = (name: string): string | undefined => alerts.find(({ alert }) => alert === name)?.labels.severity;
  expect(severityOf("EtcdClusterUnavailable")).toBe("critical");
  expect(severityOf("EtcdClusterDegraded")).toBe("warning");
});

test("the dashboard shows metrics that exist", () => {
  const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  expect(expressions.length).toBeGreaterThan(10);
  expect(expressions.flatMap(metricsOf).filter((metric) => !known.has(metric))).toEqual([]);
});
