import { expect, test } from "vitest";
import { Prometheus, type PrometheusSpec } from "../kind/prometheus.ts";
import { isManaged, selected } from "./selection.ts";

const namespaces = ["monitoring", "shop", "bank"].map((name) => ({ metadata: { name, labels: { team: name } } }));
const objects = ["monitoring", "shop", "bank"].flatMap((namespace) =>
  ["red", "blue"].map((color) => ({ metadata: { namespace, name: color, labels: { color } } })),
);

function namesFor(spec: Partial<PrometheusSpec>): readonly string[] {
  const prometheus = Prometheus({ name: "main", namespace: "monitoring", spec });
  const found = selected(prometheus, "ServiceMonitor", objects, namespaces);
  return found.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
}

test.each<readonly [string, Partial<PrometheusSpec>, readonly string[]]>([
  ["no selector", { serviceMonitorNamespaceSelector: {} }, []],
  ["an empty selector", { serviceMonitorSelector: {} }, ["monitoring/blue", "monitoring/red"]],
  ["a label", { serviceMonitorSelector: { matchLabels: { color: "red" } } }, ["monitoring/red"]],
  [
    "a label in all namespaces",
    { serviceMonitorSelector: { matchLabels: { color: "red" } }, serviceMonitorNamespaceSelector: {} },
    ["bank/red", "monitoring/red", "shop/red"],
  ],
  [
    "a label of namespaces",
    { serviceMonitorSelector: {}, serviceMonitorNamespaceSelector: { matchLabels: { team: "shop" } } },
    ["shop/blue", "shop/red"],
  ],
  [
    "an expression",
    {
      serviceMonitorSelector: {},
      serviceMonitorNamespaceSelector: {
        matchExpressions: [{ key: "team", operator: "NotIn", values: ["shop", "bank"] }],
      },
    },
    ["monitoring/blue", "monitoring/red"],
  ],
])("%s", (_, spec, names) => {
  expect(namesFor(spec)).toEqual(names);
});

test("each kind has selectors of its own", () => {
  const prometheus = Prometheus({ name: "main", namespace: "shop", spec: { probeSelector: {} } });
  expect(selected(prometheus, "Probe", objects, namespaces)).toHaveLength(2);
  expect(selected(prometheus, "PodMonitor", objects, namespaces)).toEqual([]);
});

test.each<readonly [Partial<PrometheusSpec>, boolean]>([
  [{}, false],
  [{ ruleSelector: {} }, false],
  [{ serviceMonitorSelector: {} }, true],
  [{ probeSelector: {} }, true],
])("%j: the operator writes the configuration: %s", (spec, managed) => {
  expect(isManaged(Prometheus({ name: "main", spec }).spec)).toBe(managed);
});
