/** Kubernetes' own controllers keep the laws that we hold operators to. */
import { Deployment, Namespace, Service } from "@setpoint/api";
import {
  claimProtection,
  deployments,
  endpoints,
  namespaces,
  replicaSets,
  scheduler,
  serviceAccounts,
} from "@setpoint/controllers";
import { coverageTable, patch, reconcilerLaws, remove, type Setting, story } from "@setpoint/testing";
import { defineOperator } from "setpoint";
import { expect, test } from "vitest";

const secondsMax = 50;

const labels = { app: "web" };
const web = Deployment({
  name: "web",
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } },
  },
});
const front = Service({ name: "web", spec: { selector: labels, ports: [{ port: 80 }] } });

const worlds = [
  story(
    "a Deployment behind a Service",
    front,
    web,
    patch(Deployment, "web", { spec: { replicas: 1 } }),
    patch(Deployment, "web", {
      spec: { paused: false, template: { spec: { containers: [{ name: "web", image: "web:2" }] } } },
    }),
    remove(Deployment, "web"),
  ),
  story(
    "a namespace is terminated with its contents",
    Namespace({ name: "team" }),
    { ...web, metadata: { ...web.metadata, namespace: "team" } },
    remove(Namespace, { name: "team" }),
  ),
];

function controllers(): Setting {
  const all = [
    deployments,
    replicaSets,
    endpoints,
    scheduler,
    namespaces,
    claimProtection,
    serviceAccounts({ caPem: "simulated" }),
  ];
  const operator = defineOperator({
    name: "controllers",
    controllers: all,
    permissions: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }],
  });
  return { operators: [operator], controllers: "collector" };
}

test(
  "the built-in controllers keep the laws under every single fault",
  async () => {
    const found = await reconcilerLaws(controllers, { seed: 7, worlds, seconds: secondsMax, withinMs: 600_000 });
    console.log(`${coverageTable(found.coverage)}\n${found.schedules} schedules`);
    expect(found.failures).toEqual([]);
  },
  (secondsMax + 60) * 1_000,
);
