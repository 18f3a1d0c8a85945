/** The steps of the tour, one after the other; each proves one promise of the operator. */
import type { KindRef } from "@setpoint/client";
import { isNotFound } from "@setpoint/apimachinery";
import { sleep } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { Alertmanager, Prometheus, PrometheusRule, ServiceMonitor } from "@setpoint/prometheus-operator";
import { ConfigMap, Deployment, Pod, Role, RoleBinding, Secret, Service, ServiceAccount } from "setpoint/kinds";
import type { Print } from "../../tours/example.ts";
import { runStep } from "../../tours/run-step.ts";
import { untilFound } from "../../tours/until-found.ts";
import type { MonitoringUnderTour } from "./monitoring-under-tour.ts";

/** Each further Alertmanager waits for so long before it would notify too (`--cluster.peer-timeout`). */
const peerTimeoutMs = 15_000;
const pods = 3;

interface MonitoringStep {
  readonly name: string;
  run(monitoring: MonitoringUnderTour): Promise<string>;
}

const scrape: MonitoringStep = {
  name: `scrape the ${pods} pods that a ServiceMonitor names`,
  async run(monitoring) {
    await queryIs(monitoring, 'sum(up{job="shop"})', pods);
    return `sum(up) is ${pods}, sum(shop_open) is ${await monitoring.query("sum(shop_open)")}`;
  },
};

const alert: MonitoringStep = {
  name: "lose a pod: the alert fires, and a pair of Alertmanagers notifies once",
  async run(monitoring) {
    return notifiedOnce(monitoring, "ShopPodMissing", () => keep(monitoring, 2));
  },
};

const alertWithoutOne: MonitoringStep = {
  name: "kill one of the pair and lose another pod: notified once, again",
  async run(monitoring) {
    const { client, namespace, name } = monitoring;
    const said = await notifiedOnce(monitoring, "ShopAlmostClosed", async () => {
      await client.delete(Pod, { name: `alertmanager-${name}-0`, namespace }, { gracePeriodSeconds: 0 });
      await keep(monitoring, 1);
    });
    await monitoring.settled();
    return said;
  },
};

const badRule: MonitoringStep = {
  name: "a rule that Prometheus would refuse",
  async run({ client, namespace }) {
    const groups = [{ name: "bad", rules: [{ record: "a:b", expr: "rate(up)" }] }];
    await client.create(PrometheusRule, PrometheusRule({ name: "bad", namespace, spec: { groups } }));
    const refused = await untilFound("the refusal in its status", async () => {
      const { status } = await client.get(PrometheusRule, { name: "bad", namespace });
      const condition = status?.bindings?.[0]?.conditions?.find((each) => each.status === "False");
      return condition?.message;
    });
    await client.delete(PrometheusRule, { name: "bad", namespace });
    return `left out, and told by its status: ${refused}`;
  },
};

const steps: readonly MonitoringStep[] = [scrape, alert, alertWithoutOne, badRule];

/** Whether all steps held; the failed step's name has been printed. */
export async function runTour(monitoring: MonitoringUnderTour, print: Print): Promise<boolean> {
  for (const step of steps) if (!(await runStep(step.name, print, () => step.run(monitoring)))) return false;
  return runStep("delete everything", print, async () => {
    await removeEverything(monitoring);
    return "their pods, Secrets and ConfigMaps are gone";
  });
}

/** What the example has made, whichever of it there is. */
export async function removeEverything(monitoring: MonitoringUnderTour): Promise<void> {
  const objects: readonly (readonly [KindRef, string])[] = [
    [Prometheus, monitoring.name],
    [Alertmanager, monitoring.name],
    [PrometheusRule, "bad"],
    [PrometheusRule, "shop"],
    [ServiceMonitor, "shop"],
    [Deployment, "shop"],
    [Service, "shop"],
    [ConfigMap, "shop"],
    [Service, "receiver"],
    [Pod, "receiver"],
    [ConfigMap, "receiver"],
    [Secret, "alertmanager-example"],
    [RoleBinding, "prometheus"],
    [Role, "prometheus"],
    [ServiceAccount, "prometheus"],
  ];
  const { client, namespace } = monitoring;
  for (const [kind, name] of objects) {
    await client.delete(kind, { name, namespace }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
    await untilFound(`the end of ${kind.kind} "${name}"`, () => monitoring.isGone(kind, name));
  }
  const labelSelector = "app.kubernetes.io/managed-by=prometheus-operator";
  await untilFound("the end of what the operator made", async () => {
    const lists = await Promise.all(
      [Pod, Secret, ConfigMap].map((kind: KindRef) => client.listAll(kind, { namespace, labelSelector })),
    );
    return lists.every(({ items }) => items.length === 0) ? true : undefined;
  });
}

async function keep({ client, namespace }: MonitoringUnderTour, replicas: number): Promise<void> {
  await client.patch(Deployment, { name: "shop", namespace }, { spec: { replicas } });
}

async function queryIs(monitoring: MonitoringUnderTour, expression: string, wanted: number): Promise<void> {
  await untilFound(`${expression} to be ${wanted}`, async () =>
    (await monitoring.query(expression)) === String(wanted) ? true : undefined,
  );
}

/** Waits until it would have come a second time. */
async function notifiedOnce(
  monitoring: MonitoringUnderTour,
  name: string,
  cause: () => Promise<void>,
): Promise<string> {
  const before = await monitoring.notified(name);
  const startedMs = systemClock.monotonic();
  await cause();
  await untilFound(`the notification of ${name}`, async () =>
    (await monitoring.notified(name)) > before ? true : undefined,
  );
  const tookMs = systemClock.monotonic() - startedMs;
  await sleep(systemClock, 2 * peerTimeoutMs);
  const times = (await monitoring.notified(name)) - before;
  if (times !== 1) throw new Error(`The receiver was notified ${times} times of ${name}, expected once`);
  return `${name} after ${(tookMs / 1_000).toFixed(1)} s, once within ${(2 * peerTimeoutMs) / 1_000} s more`;
}
