/**
 * The alerts and the dashboards of the operators speak of metrics that exist, and each alert has its runbook.
 */
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { backupPlanMetrics } from "../../packages/data-service/src/plan/plan-metrics.ts";
import { etcdMetrics } from "../../operators/etcd/src/status/etcd-metrics.ts";
import { labels, metricsPort } from "../../operators/etcd/src/kind/member-names.ts";
import { postgresMetrics } from "../../operators/postgres/src/act/postgres-metrics.ts";
import { instanceMetrics } from "../../operators/postgres/src/instance/instance-metrics.ts";
import { labels as postgresLabels } from "../../operators/postgres/src/kind/labels.ts";
import { metricsPort as postgresMetricsPort } from "../../operators/postgres/src/kind/names.ts";
import { monitoringOf, read, selectorsOf } from "./monitoring-expressions.ts";

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
const etcd = monitoringOf("etcd");
const postgres = monitoringOf("postgres");
const known = new Set([
  ...Object.keys(postgresMetrics.gauges),
  ...Object.keys(instanceMetrics),
  ...Object.keys(etcdMetrics.gauges),
  ...Object.keys(backupPlanMetrics.gauges),
  ...membersOwn,
  ...frameworks,
]);

function metricsOf(expression: string): readonly string[] {
  return selectorsOf(expression).map(({ metric }) => metric);
}

test.each([...etcd.alerts, ...postgres.alerts].map((alert) => [alert.alert, alert] as const))(
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
  const severityOf = (name: string): string | undefined =>
    [...etcd.alerts, ...postgres.alerts].find(({ alert }) => alert === name)?.labels.severity;
  expect(severityOf("EtcdClusterUnavailable")).toBe("critical");
  expect(severityOf("EtcdClusterDegraded")).toBe("warning");
  expect(severityOf("PostgresNoPrimary")).toBe("critical");
  expect(severityOf("PostgresClusterDegraded")).toBe("warning");
});

test.each([
  ["etcd", etcd],
  ["postgres", postgres],
])("the dashboard of %s shows metrics that exist", (_, { panelExpressions }) => {
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

test("a PodMonitor finds the instances by their label and their port of metrics", () => {
  const { spec } = parse(read("operators/postgres/monitoring/instances.yaml")) as { readonly spec: object };
  expect(spec).toMatchObject({
    namespaceSelector: { any: true },
    selector: { matchExpressions: [{ key: postgresLabels.instance, operator: "Exists" }] },
    podTargetLabels: [postgresLabels.cluster],
    podMetricsEndpoints: [{ port: "metrics", path: "/metrics" }],
  });
  expect(read("operators/postgres/monitoring/instances.yaml")).toContain(`port ${postgresMetricsPort}`);
});

test("the page of the metrics of PostgreSQL names all of them", () => {
  const page = read("docs/postgres-monitoring.md");
  const names = [...Object.keys(instanceMetrics), ...Object.keys(postgresMetrics.gauges)];
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test.each(["etcd", "postgres"])("one command installs all files of the folder of %s", (operator) => {
  const folder = `operators/${operator}/monitoring/`;
  const { resources, configMapGenerator } = parse(read(`${folder}kustomization.yaml`)) as {
    readonly resources: readonly string[];
    readonly configMapGenerator: readonly { readonly files?: readonly string[] }[];
  };
  const used = ["kustomization.yaml", ...resources, ...configMapGenerator.flatMap(({ files = [] }) => files)];
  expect(readdirSync(new URL(`../../${folder}`, import.meta.url)).toSorted()).toEqual(used.toSorted());
});
