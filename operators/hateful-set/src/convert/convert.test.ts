/** Manifests of other systems, and what becomes of them. */
import { expect, test } from "vitest";
import { convertObject } from "../tool.ts";

const monkey = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: {
    name: "web",
    namespace: "shop",
    labels: {
      "kube-monkey/enabled": "enabled",
      "kube-monkey/mtbf": "2",
      "kube-monkey/kill-mode": "fixed-percent",
      "kube-monkey/kill-value": "50",
    },
  },
  spec: { template: { metadata: { labels: { app: "web" } } } },
};

const podChaos = {
  apiVersion: "chaos-mesh.org/v1alpha1",
  kind: "PodChaos",
  metadata: { name: "kill", namespace: "chaos-testing" },
  spec: {
    action: "pod-kill",
    mode: "all",
    selector: { namespaces: ["shop", "bar"], labelSelectors: { app: "web" }, nodes: ["a"] },
  },
};

const schedule = (text: string): object => ({
  ...podChaos,
  kind: "Schedule",
  spec: { schedule: text, type: "PodChaos", podChaos: { ...podChaos.spec, mode: "one", gracePeriod: 3 } },
});

test("labels of kube-monkey become a rate, a window and a selector", () => {
  const [converted] = convertObject(monkey);
  expect(converted?.set).toMatchObject({
    metadata: { name: "web-chaos", namespace: "shop" },
    spec: {
      chaosLevel: 1,
      interval: 4_320,
      window: { from: "10:00", to: "16:00" },
      selector: { matchLabels: { app: "web" } },
    },
  });
  expect(converted?.differences).toEqual([
    "opt in: kubectl label deployment web -n shop control-plane.io/chaos=enabled",
    "the window is in UTC; set spec.window.timeZone",
    "kill-mode fixed-percent with kill-value 50: an act strikes one pod, and the next one waits until it is back",
  ]);
});

test("a workload without the labels is nothing to convert", () => {
  expect(convertObject({ ...monkey, metadata: { name: "web" } })).toEqual([]);
});

test("a PodChaos becomes one request in each of its namespaces", () => {
  const converted = convertObject(podChaos);
  expect(converted.map(({ set }) => set.metadata.namespace)).toEqual(["shop", "bar"]);
  expect(converted[0]?.set).toMatchObject({
    metadata: { annotations: { "control-plane.io/strike": "PodChaos kill" } },
    spec: { chaosLevel: 0, gracePeriodSeconds: 0, selector: { matchLabels: { app: "web" } } },
  });
  expect(converted[0]?.differences).toContain("mode all: an act strikes one pod");
  expect(converted[0]?.differences).toContain("selector.nodes: not carried over");
});

test.each([
  ["@every 5m", 300],
  ["*/10 * * * *", 600],
])("a Schedule %s becomes an interval of %d s", (text, interval) => {
  expect(convertObject(schedule(text))[0]?.set.spec).toMatchObject({ chaosLevel: 10, interval, gracePeriodSeconds: 3 });
});

test("what cannot be converted is refused with the field and the value", () => {
  expect(() => convertObject(schedule("5 4 * * 1"))).toThrow(
    'spec.schedule is "5 4 * * 1", expected "@every DURATION"',
  );
  const failure = { ...podChaos, spec: { ...podChaos.spec, action: "pod-failure" } };
  expect(() => convertObject(failure)).toThrow('spec.action is "pod-failure", expected "pod-kill"');
  expect(() => convertObject({ ...podChaos, kind: "NetworkChaos" })).toThrow('Cannot convert NetworkChaos "kill"');
});
