/**
 * The alerts and the dashboard of the etcd operator speak of metrics that exist, and each alert has its
 * runbook.
 */
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { backupPlanMetrics } from "../../packages/data-service/src/plan/plan-metrics.ts";
import { etcdMetrics } from "../../operators/etcd/src/status/etcd-metrics.ts";
import { labels, metricsPort } from "../../operators/etcd/src/kind/member-names.ts";
import { alerts, panelExpressions, read, selectorsOf } from "./monitoring-expressions.ts";

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
  return selectorsOf(expression).map(({ metric }) => metric);
}

test.each(alerts.map((alert) => [alert.alert, alert] as const))(
  "alert %s can fire and says what to do",
  (name, alert) => {
    expect(metricsOf(alert.expr)).not.toEqual([]);
    expect(metricsOf(alert.expr).filter((metric) => !known.has(metric))).toEqual([]);
    expect(["critical", "warning"]).toContain(alert.labels.severity);
    expect(alert.annotations["summary"]).toMatch(/^[A-Z].+[^.]$/);
    // The host is a parameter of kustomization.yaml.
    expect(alert.annotations["runbook_url"]).toBe(`https://runbooks.example/${name}.md`);
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
  expect(panelExpressions.length).toBeGreaterThan(10);
  expect(panelExpressions.flatMap(metricsOf).filter((metric) => !known.has(metric))).toEqual([]);
});

test("a PodMonitor finds the members by their label and their port of metrics", () => {
  const { spec } = parse(read("operators/etcd/monitoring/members.yaml")) as { readonly spec: object };
  expect(spec).toMatchObject({
    namespaceSelector: { any: true },
    selector: { matchExpressions: [{ key: labels.cluster, operator: "Exists" }] },
    podMetricsEndpoints: [{ port: "metrics", path: "/metrics" }],
  });
  expect(read("operators/etcd/monitoring/members.yaml")).toContain(`port ${metricsPort}`);
});

test("one command installs all files of the folder", () => {
  const folder = "operators/etcd/monitoring/";
  const { resources, configMapGenerator } = parse(read(`${folder}kustomization.yaml`)) as {
    readonly resources: readonly string[];
    readonly configMapGenerator: readonly { readonly files?: readonly string[] }[];
  };
  const used = ["kustomization.yaml", ...resources, ...configMapGenerator.flatMap(({ files = [] }) => files)];
  expect(readdirSync(new URL(`../../${folder}`, import.meta.url)).toSorted()).toEqual(used.toSorted());
});
