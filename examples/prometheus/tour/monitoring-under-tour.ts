/** What the tour sees: objects by the Kubernetes API, and the servers' own pages from a pod beside them. */
import { isNotFound } from "@setpoint/apimachinery";
import type { Client, KindRef } from "@setpoint/client";
import { type HttpConnection, resolveConnection } from "@setpoint/client/node";
import { systemClock } from "@setpoint/host/system";
import { Alertmanager, Prometheus } from "@setpoint/prometheus-operator";
import { runInPod } from "../../tours/run-in-pod.ts";
import { untilFound } from "../../tours/until-found.ts";
import type { Print } from "../../tours/example.ts";

export interface Target {
  readonly pod: string;
  readonly health: string;
  readonly lastError: string;
}

export interface MonitoringTourOptions {
  readonly client: Client;
  /** The path of the kubeconfig. */
  readonly kubeconfig: string;
  readonly print: Print;
}

/** The objects of examples/prometheus/monitoring.yaml. */
export class MonitoringUnderTour {
  readonly client: Client;
  readonly name = "example";
  readonly namespace = "default";
  readonly #print: Print;
  readonly #connection: HttpConnection;

  constructor({ client, kubeconfig, print }: MonitoringTourOptions) {
    this.client = client;
    this.#print = print;
    this.#connection = resolveConnection({ clock: systemClock, kubeconfig }).connection;
  }

  /** Both kinds are available, and have loaded what the operator wants. */
  async settled(): Promise<void> {
    for (const kind of [Prometheus, Alertmanager] as readonly KindRef[]) {
      let said = "";
      await untilFound(`${kind.kind} "${this.name}" to be available`, async () => {
        const { status } = (await this.client.get(kind, this)) as Prometheus | Alertmanager;
        const wrong = ["Available", "ConfigurationLoaded"]
          .map(
            (type) =>
              status?.conditions?.find((each) => each.type === type) ?? { type, status: "Unknown", message: "" },
          )
          .find((each) => each.status !== "True");
        const line =
          wrong === undefined
            ? `${kind.kind}: available`
            : `${kind.kind}: ${wrong.type} is ${wrong.status} ${wrong.message}`;
        if (line !== said) this.#print(line.trim());
        said = line;
        return wrong === undefined ? true : undefined;
      });
    }
  }

  /** From inside of the cluster, by the names of Services. */
  async answers(): Promise<void> {
    await untilFound("Prometheus to answer", () => this.targets());
  }

  async targets(): Promise<readonly Target[]> {
    const page = await this.fetch("http://prometheus-operated:9090/api/v1/targets?state=active");
    const { data } = JSON.parse(page) as TargetsAnswer;
    return data.activeTargets.map(({ labels, health, lastError }) => ({ pod: labels.pod ?? "", health, lastError }));
  }

  /** The value of the first sample; undefined while there is none. */
  async query(expression: string): Promise<string | undefined> {
    const page = await this.fetch(
      `http://prometheus-operated:9090/api/v1/query?query=${encodeURIComponent(expression)}`,
    );
    return (JSON.parse(page) as QueryAnswer).data.result[0]?.value[1];
  }

  /** How often the receiver was notified that this alert fires. */
  async notified(alert: string): Promise<number> {
    const kept = await this.fetch("http://receiver:8080/kept/alerts").catch(() => "");
    const lines = kept.split("\n").filter((line) => line !== "");
    const isOf = ({ status, alerts }: Notification): boolean =>
      status === "firing" && alerts.some(({ labels }) => labels.alertname === alert);
    return lines.filter((line) => isOf(JSON.parse(line) as Notification)).length;
  }

  async isGone(kind: KindRef, name: string): Promise<true | undefined> {
    return this.client.get(kind, { name, namespace: this.namespace }).then(
      () => undefined,
      (error: unknown) => (isNotFound(error) ? true : undefined),
    );
  }

  /** From inside of the cluster, by the name of a Service. */
  fetch(url: string): Promise<string> {
    const place = { connection: this.#connection, namespace: this.namespace, pod: "receiver" };
    return runInPod(place, ["wget", "-q", "-O-", url]);
  }
}

interface TargetsAnswer {
  readonly data: {
    readonly activeTargets: readonly {
      readonly labels: { readonly pod?: string };
      readonly health: string;
      readonly lastError: string;
    }[];
  };
}

interface QueryAnswer {
  readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] };
}

interface Notification {
  readonly status: string;
  readonly alerts: readonly { readonly labels: { readonly alertname: string } }[];
}
