/** Upstream's getting-started manifests, unchanged, on our operator and a real Prometheus. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { PrometheusPlayground } from "./playground.ts";

/** The configuration reaches the pod within a minute, then the first scrape within 30 s. */
const scrape = { timeout: 180_000, interval: 1_000 };

let playground: PrometheusPlayground;

beforeAll(async () => {
  playground = await PrometheusPlayground.open();
});

afterAll(async () => {
  await playground?.[Symbol.asyncDispose]();
});

async function conditionMessage(type: string): Promise<string> {
  const path = `{.status.conditions[?(@.type=="${type}")].message}`;
  return playground.kubectl.ok(`get prometheus prometheus -o jsonpath=${path}`);
}

test("Prometheus scrapes what a ServiceMonitor names", async () => {
  await playground.applyUpstream("prometheus-service-account", "prometheus-cluster-role");
  await playground.applyUpstream("prometheus-cluster-role-binding", "prometheus-service-monitor");
  await playground.applyUpstream("example-app-deployment", "example-app-service", "example-app-service-monitor");
  await playground.wait("--for=condition=Available deployment/example-app", 120);
  await playground.wait("--for=condition=Available prometheus/prometheus", 300);
  await expect.poll(() => playground.query('sum(up{job="example-app"})'), scrape).toBe("3");
  expect(await playground.query('count(version{version="v0.5.0"})')).toBe("3");
  await playground.wait("--for=condition=ConfigurationLoaded prometheus/prometheus", 60);
});

test("an alert of a PrometheusRule fires", async () => {
  await playground.kubectl.ok("patch prometheus prometheus --type=merge -p", [
    JSON.stringify({ spec: { ruleSelector: { matchLabels: { role: "alert-rules" } } } }),
  ]);
  await playground.applyUpstream("prometheus-example-rules");
  await expect
    .poll(() => playground.query('count(ALERTS{alertname="ExampleAlert",alertstate="firing"})'), scrape)
    .toBe("1");
});

test("a rule that Prometheus would refuse is left out with an Event, and the others stay", async () => {
  const metadata = { name: "broken", labels: { role: "alert-rules" } };
  const groups = [{ name: "broken", rules: [{ record: "a:b", expr: "rate(up)" }] }];
  await playground.apply({
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata,
    spec: { groups },
  });
  const events = (): Promise<string> => playground.kubectl.ok("events --for prometheusrule/broken");
  await expect.poll(events, scrape).toContain("function rate expects a matrix");
  const accepted = "{.status.bindings[0].conditions[0].status}";
  const bindingOf = (name: string): Promise<string> =>
    playground.kubectl.ok(`get prometheusrule ${name} -o jsonpath=${accepted}`);
  expect(await bindingOf("broken")).toBe("False");
  expect(await bindingOf("prometheus-example-rules")).toBe("True");
  expect(await conditionMessage("Reconciled")).toContain('PrometheusRule "default/broken"');
  expect(await playground.query('count(ALERTS{alertname="ExampleAlert",alertstate="firing"})')).toBe("1");
  await playground.kubectl.ok("delete prometheusrule broken");
});

test("a PodMonitor takes the place of the ServiceMonitor", async () => {
  await playground.applyUpstream("example-app-pod-monitor");
  await playground.kubectl.ok("patch prometheus prometheus --type=merge -p", [
    JSON.stringify({
      spec: { serviceMonitorSelector: null, podMonitorSelector: { matchLabels: { team: "frontend" } } },
    }),
  ]);
  await expect.poll(() => playground.query('sum(up{job="default/example-app"})'), scrape).toBe("3");
});

test("nothing is left of a Prometheus but its Service and what users made", async () => {
  await playground.kubectl.ok("delete prometheus prometheus");
  const left = (): Promise<string> =>
    playground.kubectl.ok("get statefulsets,pods,secrets,configmaps -l operator.prometheus.io/name=prometheus -o name");
  await expect.poll(left, { timeout: 120_000, interval: 1_000 }).toBe("");
});
