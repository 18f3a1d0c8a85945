import { expect, test } from "vitest";
import { Assets } from "../generate/assets.ts";
import { Prometheus, type PrometheusSpec } from "../kind/prometheus.ts";
import { ServiceMonitor } from "../kind/service-monitor.ts";
import { checkServiceMonitor } from "../select/check-monitor.ts";
import { scrapingUsers } from "./binding-users.ts";
import { type Binding, bindingsOf } from "./bindings.ts";

const now = "2026-01-02T00:00:00Z";

function prometheus(name: string, spec: Partial<PrometheusSpec>): Prometheus {
  return Prometheus({ name, namespace: "shop", spec });
}

function monitor(endpoint: object, bindings?: readonly Binding[]): ServiceMonitor {
  const spec = { selector: {}, endpoints: [endpoint] };
  const made = ServiceMonitor({ name: "app", namespace: "shop", spec });
  const metadata = { ...made.metadata, generation: 4 };
  return { ...made, metadata, ...(bindings === undefined ? {} : { status: { bindings } }) };
}

function bindings(of: ServiceMonitor, ...prometheuses: readonly Prometheus[]): readonly Binding[] {
  const users = scrapingUsers({ prometheuses, agents: [] }, new Assets(), checkServiceMonitor);
  return bindingsOf("ServiceMonitor", of, users, { namespaces: [], now });
}

const valid = { type: "Accepted", status: "True", reason: "Valid", message: "It is part of the configuration" };

test("each Prometheus that selects the object has a binding", () => {
  const selecting = { serviceMonitorSelector: {} };
  const found = bindings(monitor({}), prometheus("b", selecting), prometheus("none", {}), prometheus("a", selecting));
  expect(found).toEqual(
    ["a", "b"].map((name) => ({
      group: "monitoring.coreos.com",
      resource: "prometheuses",
      name,
      namespace: "shop",
      conditions: [{ ...valid, observedGeneration: 4, lastTransitionTime: now }],
    })),
  );
});

test("an object that is left out says why, to each Prometheus by its own fields", () => {
  const endpoint = { tlsConfig: { caFile: "/ca" } };
  const forbids = { serviceMonitorSelector: {}, arbitraryFSAccessThroughSMs: { deny: true } };
  const found = bindings(monitor(endpoint), prometheus("a", { serviceMonitorSelector: {} }), prometheus("b", forbids));
  expect(found.map(({ conditions }) => conditions?.[0]?.message)).toEqual([
    "It is part of the configuration",
    "spec.endpoints[0].tlsConfig.caFile: it names a file of the Prometheus pod, which spec.arbitraryFSAccessThroughSMs forbids",
  ]);
});

test.each([
  [{}, "2026-01-01T00:00:00Z"],
  [{ scrapeTimeout: "1h" }, now],
])("the time of a condition changes with its status alone: %j", (endpoint, time) => {
  const selecting = prometheus("a", { serviceMonitorSelector: {} });
  const before = bindings(monitor({}), selecting).map((binding): Binding => ({
    ...binding,
    conditions: [{ ...valid, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }],
  }));
  const [after] = bindings(monitor(endpoint, before), selecting);
  expect(after?.conditions?.[0]?.lastTransitionTime).toBe(time);
});

test("a Prometheus without a version accepts nothing", () => {
  const [binding] = bindings(monitor({}), prometheus("a", { serviceMonitorSelector: {}, version: "new" }));
  expect(binding?.conditions?.[0]).toMatchObject({
    status: "False",
    message: 'spec.version: Prometheus "shop/a" has a version that is none',
  });
});
