/** How Prometheus finds an operator; the folder `monitoring` of the operator has the file. */
import { manifestsYaml } from "@setpoint/cli";
import type { Operator } from "setpoint";
import { installManifests } from "setpoint/install";
import { ClusterRole } from "setpoint/kinds";

type InstallOptions = Parameters<typeof installManifests>[1];

/** The role is for the account of Prometheus. */
export function operatorMonitor(operator: Operator, options: InstallOptions): string {
  const name = `${operator.name}-operator-metrics`;
  const extras = ["MetricsService", "ServiceMonitor"] as const;
  const monitors = installManifests(operator, { ...options, extras }).slice(-extras.length);
  const rules = [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }];
  return manifestsYaml([...monitors, ClusterRole({ name, rules })]);
}
