/** Probes by a real blackbox exporter, and ScrapeConfigs, on our operator and a real Prometheus. */
import type { ImageSource } from "@setpoint/process-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PrometheusPlayground, scriptImage } from "./playground.ts";

/** The configuration reaches the pod within a minute, then the first scrape within 30 s. */
const scrape = { timeout: 240_000, interval: 1_000 };

const proberImage = "setpoint.invalid/blackbox-exporter:0.23";
const prober: ImageSource = {
  closure: { suite: "bookworm", packages: ["prometheus-blackbox-exporter"] },
  command: ["/usr/bin/prometheus-blackbox-exporter", "--config.file=/etc/prometheus/blackbox.yml"],
};

let playground: PrometheusPlayground;

beforeAll(async () => {
  playground = await PrometheusPlayground.open({ [proberImage]: prober });
  await playground.applyUpstream("prometheus-service-account", "prometheus-cluster-role");
  await playground.applyUpstream("prometheus-cluster-role-binding");
  await playground.applyUpstream("example-app-deployment", "example-app-service");
  await runPod("prober", { image: proberImage }, 9115);
  await playground.apply({
    ...monitoring("v1", "Prometheus", "prometheus"),
    spec: { serviceAccountName: "prometheus", probeSelector: {}, scrapeConfigSelector: {}, scrapeInterval: "5s" },
  });
  await playground.wait("--for=condition=Available deployment/example-app", 120);
  await playground.wait("--for=condition=Available prometheus/prometheus", 300);
});

afterAll(async () => {
  await playground?.[Symbol.asyncDispose]();
});

function monitoring(version: string, kind: string, name: string): object {
  return { apiVersion: `monitoring.coreos.com/${version}`, kind, metadata: { name } };
}

/** A pod and a Service of the same name. */
async function runPod(name: string, container: object, port: number, volumes: readonly object[] = []): Promise<void> {
  const spec = { containers: [{ name, ...container }], volumes };
  await playground.apply({ apiVersion: "v1", kind: "Pod", metadata: { name, labels: { run: name } }, spec });
  await playground.kubectl.ok(`expose pod ${name} --port=${port}`);
  await playground.wait(`--for=condition=Ready pod/${name}`, 120);
}

async function probe(name: string, targets: object): Promise<void> {
  const spec = { jobName: name, prober: { url: "prober:9115" }, module: "http_2xx", targets };
  await playground.apply({ ...monitoring("v1", "Probe", name), spec });
}

async function scrapeConfig(name: string, spec: object): Promise<void> {
  await playground.apply({ ...monitoring("v1alpha1", "ScrapeConfig", name), spec: { jobName: name, ...spec } });
}

test("a Probe asks addresses, and says which one does not answer", async () => {
  const addresses = ["http://example-app:8080/metrics", "http://example-app:8080/none"];
  await probe("addresses", { staticConfig: { static: addresses, labels: { team: "web" } } });
  const success = (address: string): Promise<string | undefined> =>
    playground.query(`probe_success{job="addresses",team="web",namespace="default",instance="${address}"}`);
  await expect.poll(() => success("http://example-app:8080/metrics"), scrape).toBe("1");
  await expect.poll(() => success("http://example-app:8080/none"), scrape).toBe("0");
});

test("a Probe asks what the rules of an Ingress name", async () => {
  const ports = [{ port: 80, targetPort: 8080 }];
  const service = { selector: { app: "example-app" }, ports };
  await playground.apply({ apiVersion: "v1", kind: "Service", metadata: { name: "shop" }, spec: service });
  const backend = { service: { name: "shop", port: { number: 80 } } };
  const rules = [{ host: "shop", http: { paths: [{ path: "/metrics", pathType: "Prefix", backend }] } }];
  const metadata = { name: "shop", labels: { public: "yes" } };
  await playground.apply({ apiVersion: "networking.k8s.io/v1", kind: "Ingress", metadata, spec: { rules } });
  await probe("ingresses", { ingress: { selector: { matchLabels: { public: "yes" } } } });
  const found = 'probe_success{job="ingresses",ingress="shop",instance="http://shop/metrics"}';
  await expect.poll(() => playground.query(found), scrape).toBe("1");
});

test("a ScrapeConfig scrapes addresses, and what a server names", async () => {
  const script = `#!/bin/sh\nprintf 'Content-Type: application/json\\r\\n\\r\\n'\necho '${JSON.stringify([
    { targets: ["example-app:8080"], labels: { from: "server" } },
  ])}'\n`;
  await playground.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "script" }, data: { list: script } });
  const volumeMounts = [{ name: "script", mountPath: "/www/cgi-bin" }];
  const volumes = [{ name: "script", configMap: { name: "script", defaultMode: 0o755 } }];
  await runPod("targets", { image: scriptImage, volumeMounts }, 8080, volumes);
  await scrapeConfig("by-address", { staticConfigs: [{ targets: ["example-app:8080"], labels: { from: "object" } }] });
  await scrapeConfig("by-server", { httpSDConfigs: [{ url: "http://targets:8080/cgi-bin/list" }] });
  const version = (job: string, from: string): Promise<string | undefined> =>
    playground.query(`version{job="${job}",from="${from}",version="v0.5.0"}`);
  await expect.poll(() => version("by-address", "object"), scrape).toBe("1");
  await expect.poll(() => version("by-server", "server"), scrape).toBe("1");
});

test("objects that Prometheus would refuse are left out with an Event, and the others stay", async () => {
  await probe("lost", {});
  await scrapeConfig("lost", {
    consulSDConfigs: [{ server: "consul:8500", tokenRef: { name: "none", key: "token" } }],
  });
  const events = (of: string): Promise<string> => playground.kubectl.ok(`events --for ${of}`);
  await expect.poll(() => events("probe/lost"), scrape).toContain("expected staticConfig or ingress");
  await expect.poll(() => events("scrapeconfig/lost"), scrape).toContain('Secret "default/none" does not exist');
  await playground.wait("--for=condition=ConfigurationLoaded prometheus/prometheus", 120);
  await expect.poll(() => playground.query('up{job="by-address"}'), scrape).toBe("1");
});
