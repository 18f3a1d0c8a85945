/**
 * The file that installs the PostgreSQL operator on any cluster:
 * `kubectl apply --server-side -f operators/postgres/manifests/install.yaml`.
 */
import { findReleaseOperator, manifestsYaml } from "@setpoint/cli";
import { httpsGateway, postgresOperator } from "@setpoint/postgres-operator";
import { installManifests } from "setpoint/install";

export const postgresManifestsFile: URL = new URL("../../operators/postgres/manifests/install.yaml", import.meta.url);

const heading = "# Generated from the operator's code by tools/manifests/main.ts; do not edit.\n";

export function postgresManifests(): string {
  const image = findReleaseOperator("postgres")?.image ?? "";
  return (
    heading +
    manifestsYaml(installManifests(postgresOperator(httpsGateway(), ""), { image, namespace: "setpoint-system" }))
  );
}
