import type { Pod } from "setpoint/kinds";
import { expect, test } from "vitest";
import { cluster } from "../plan/situation.fixture.ts";
import { memberPod } from "./member-pod.ts";
import { hasSettings } from "./pod-settings.ts";

type Spec = Parameters<typeof cluster>[0];

const added = ["not-ready", "unreachable"].map((name) => ({
  ...{ key: `node.kubernetes.io/${name}`, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
}));

/** As the server stores it: with what it adds to every pod, and a missing request taken from the limit. */
function podWith(spec: Spec = {}): Pod {
  const options = { version: "3.5.16", initialCluster: ["a"], state: "new", pinnedImages: new Map() } as const;
  const pod = memberPod(cluster(spec), { member: "a", hasLoopback: true, ...options });
  const containers = (pod.spec?.containers ?? []).map((each) => {
    const { limits, requests } = each.resources ?? {};
    return limits === undefined ? each : { ...each, resources: { limits, requests: { ...limits, ...requests } } };
  });
  const tolerations = [...(pod.spec?.tolerations ?? []), ...added];
  return { ...pod, spec: { ...pod.spec, containers, tolerations } } as Pod;
}

const rich: Spec = {
  options: { "snapshot-count": "5000", "auto-compaction-retention": "2h" },
  pod: {
    resources: { requests: { cpu: "500m" }, limits: { memory: "1Gi" } },
    nodeSelector: { disk: "fast" },
    tolerations: [{ key: "database", operator: "Exists" }],
    env: [{ name: "GOGC", value: "50" }],
    labels: { "app.kubernetes.io/part-of": "shop" },
  },
};

test("hasSettings() finds the settings of a spec in the pod that was made with them", () => {
  expect(hasSettings(cluster(), podWith())).toBe(true);
  expect(hasSettings(cluster(rich), podWith(rich))).toBe(true);
});

test.each<readonly [string, NonNullable<Spec>]>([
  ["an option", { options: { "snapshot-count": "6000", "auto-compaction-retention": "2h" } }],
  ["an option that is gone", { options: { "snapshot-count": "5000" } }],
  ["resources", { pod: { ...rich.pod, resources: { requests: { cpu: "400m" }, limits: { memory: "1Gi" } } } }],
  ["no resources", { pod: { ...rich.pod, resources: {} } }],
  ["a nodeSelector", { pod: { ...rich.pod, nodeSelector: { disk: "slow" } } }],
  ["an affinity", { pod: { ...rich.pod, affinity: { podAntiAffinity: {} } } }],
  ["no toleration", { pod: { ...rich.pod, tolerations: [] } }],
  ["a variable", { pod: { ...rich.pod, env: [{ name: "GOGC", value: "80" }] } }],
])("hasSettings() finds that %s differs", (_, change) => {
  expect(hasSettings(cluster({ ...rich, ...change }), podWith(rich))).toBe(false);
});

test("hasSettings() takes the operator's own part of a pod for no setting", () => {
  const { spec, ...rest } = podWith(rich);
  const { topologySpreadConstraints: _, containers, ...others } = spec ?? { containers: [] };
  const older = containers.map(({ readinessProbe: __, args = [], ...each }) => ({
    ...each,
    args: args.filter((arg) => !arg.startsWith("--auto-compaction-mode")),
  }));
  const pod = { ...rest, spec: { ...others, terminationGracePeriodSeconds: 30, containers: older } };
  expect(hasSettings(cluster(rich), pod)).toBe(true);
});
