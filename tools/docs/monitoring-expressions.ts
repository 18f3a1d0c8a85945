/** What the alerts and the dashboards of our operators ask of Prometheus. */
import { readFileSync } from "node:fs";
import { parse } from "yaml";

const root = new URL("../../", import.meta.url);

export function read(path: string): string {
  return readFileSync(new URL(path, root), "utf8");
}

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}

interface Monitoring {
  readonly alerts: readonly Alert[];
  readonly panelExpressions: readonly string[];
}

export function monitoringOf(operator: "etcd" | "postgres"): Monitoring {
  const folder = `operators/${operator}/monitoring/`;
  const { spec } = parse(read(`${folder}alerts.yaml`)) as {
    readonly spec: { readonly groups: readonly { readonly rules: readonly Alert[] }[] };
  };
  const { panels } = JSON.parse(read(`${folder}dashboard.json`)) as {
    readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
  };
  return {
    alerts: spec.groups.flatMap((group) => group.rules),
    panelExpressions: panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  };
}

export const { alerts, panelExpressions }: Monitoring = monitoringOf("etcd");

/** A metric, with the labels that it must have. */
export interface Selector {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
}

const metric = /\b((?:data|etcd|postgres|grpc_server|controller_runtime|setpoint)_[a-z_]+)(?:\{([^}]*)\})?/g;

/** The selectors of an expression; what a dashboard's variable decides is left out. */
export function selectorsOf(expression: string): readonly Selector[] {
  return [...expression.matchAll(metric)].map(([, name = "", labels = ""]) => ({
    metric: name,
    labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"$]*)"/g)].map(([, key, value]) => [key, value])),
  }));
}

/** Whether a scrape has a sample for the selector. */
export function isIn(scrape: string, { metric: name, labels }: Selector): boolean {
  const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
  return scrape
    .split("\n")
    .some((line) => /^\w+/.exec(line)?.[0] === name && wanted.every((label) => line.includes(label)));
}

/** Of the members themselves; all others are of the operator. */
export function isOfMembers({ metric: name }: Selector): boolean {
  return name.startsWith("grpc_server_") || (name.startsWith("etcd_") && !name.startsWith("etcd_cluster_"));
}
