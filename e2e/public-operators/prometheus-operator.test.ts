/**
 * prometheus-operator, with the bundle and the getting-started example of its release: an application is
 * scraped because a ServiceMonitor names it.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ImageSource } from "@setpoint/process-node";
import { expect, test } from "vitest";
import { buildOperator, missingGo } from "./built-with-go.ts";
import { type Images, startPublicCluster } from "./cluster.ts";

if (missingGo !== "") console.warn(`skipped: prometheus-operator: ${missingGo}`);

const operator = {
  name: "prometheus-operator",
  module: "github.com/prometheus-operator/prometheus-operator",
  version: "v0.83.0",
  programs: { operator: "cmd/operator", "prometheus-config-reloader": "cmd/prometheus-config-reloader" },
};

/** Debian's release; the operator's own default is newer. */
const prometheusVersion = "v2.53.3";
const nobody = "65534";
/** The configuration reaches the pod within a minute, then the first scrape within 30 s. */
const scrapeMsMax = 180_000;

/** The application's own program is in no registry of modules: a page with a metric stands for it. */
function application(folder: string): ImageSource {
  const page = join(folder, "metrics");
  writeFileSync(page, '# TYPE version gauge\nversion{version="v0.5.0"} 1\n');
  return {
    closure: { suite: "bookworm", packages: ["busybox-static"] },
    files: [{ from: page, to: "/www/metrics" }],
    command: ["/bin/busybox", "httpd", "-f", "-p", "8080", "-h", "/www"],
  };
}

function imagesOf(programs: string, files: string): Images {
  const program = (name: string): ImageSource => ({
    files: [{ from: join(programs, name), to: `/bin/${name}` }],
    entrypoint: [`/bin/${name}`],
    user: nobody,
  });
  const images = "quay.io/prometheus-operator";
  return {
    [`${images}/prometheus-operator:v0.83.0`]: program("operator"),
    [`${images}/prometheus-config-reloader:v0.83.0`]: program("prometheus-config-reloader"),
    "quay.io/brancz/prometheus-example-app:v0.5.0": application(files),
    [`quay.io/prometheus/prometheus:${prometheusVersion}`]: {
      closure: { suite: "trixie", packages: ["prometheus"] },
      entrypoint: ["/usr/bin/prometheus"],
      user: nobody,
    },
  };
}

const prometheus = `
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: prometheus}
spec:
  version: ${prometheusVersion}
  replicas: 2
  serviceAccountName: prometheus
  serviceMonitorSelector: {matchLabels: {team: frontend}}
`;

test.skipIf(missingGo !== "")("prometheus-operator has Prometheus scrape what a ServiceMonitor names", async () => {
  const built = buildOperator(operator);
  await using cluster = await startPublicCluster((files) => imagesOf(built.folder, files));
  const { kubectl } = cluster;
  const example = (file: string): Promise<string> => kubectl.ok(`apply -f ${join(built.source, "example", file)}`);
  const query = async (expression: string): Promise<unknown> => {
    const url = `http://prometheus-operated:9090/api/v1/query?query=${encodeURIComponent(expression)}`;
    const { stdout } = await kubectl.run(`exec client -- wget -q -O- ${url}`);
    return stdout === "" ? undefined : (JSON.parse(stdout) as QueryAnswer).data.result[0]?.value[1];
  };

  await kubectl.ok(`create -f ${join(built.source, "bundle.yaml")}`);
  await cluster.wait("--for=condition=Available deployment/prometheus-operator", 120);
  for (const name of ["service-account", "cluster-role", "cluster-role-binding"])
    await example(`rbac/prometheus/prometheus-${name}.yaml`);
  await kubectl.ok("apply -f -", [], { input: prometheus });
  await kubectl.ok("run client --image=busybox --command -- sleep infinity");
  await cluster.wait("--for=condition=Available prometheus/prometheus", 180);
  for (const name of ["deployment", "service", "service-monitor"])
    await example(`user-guides/getting-started/example-app-${name}.yaml`);
  await cluster.wait("--for=condition=Available deployment/example-app", 60);
  await cluster.wait("--for=condition=Ready pod/client", 60);

  await expect.poll(() => query('sum(up{job="example-app"})'), { timeout: scrapeMsMax, interval: 1_000 }).toBe("3");
  expect(await query('count(version{version="v0.5.0"})')).toBe("3");
  expect(await kubectl.ok("get prometheus prometheus")).toMatch(/prometheus +v2\.53\.3 +2 +2 +True +True/);

  await kubectl.ok("scale deployment/example-app --replicas=1");
  await expect.poll(() => query('count(up{job="example-app"})'), { timeout: scrapeMsMax, interval: 1_000 }).toBe("1");
});

interface QueryAnswer {
  readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] };
}
