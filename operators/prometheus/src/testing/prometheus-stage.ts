/** The operator on stage in the simulated world. Only tests import this. */
import { gunzipSync } from "node:zlib";
import { ConfigMap, Secret } from "setpoint/kinds";
import { type Fault, type ProgramModel, type Setting, simulate, type World } from "setpoint/testing";
import { Probe } from "../kind/probe.ts";
import { PodMonitor } from "../kind/pod-monitor.ts";
import { Prometheus, type PrometheusSpec } from "../kind/prometheus.ts";
import { PrometheusAgent, type PrometheusAgentSpec } from "../kind/prometheus-agent.ts";
import { PrometheusRule, type Rule } from "../kind/prometheus-rule.ts";
import { ScrapeConfig } from "../kind/scrape-config.ts";
import { type ServiceEndpoint, ServiceMonitor } from "../kind/service-monitor.ts";
import type { LoadedGateway } from "../observe/loaded-gateway.ts";
import type { PoolGateway } from "../observe/pool-gateway.ts";
import { prometheusOperator } from "../prometheus-operator.ts";
import { configurationHash } from "../reload/configuration-hash.ts";
import type { LoadedReport } from "../reload/reloader.ts";

export const image = "setpoint.invalid/prometheus-operator:1";

export const settings = { image, options: { endpointSlices: true } };

/** Each job has one target, which is up. */
const everythingIsUp: PoolGateway = () => Promise.resolve({ active: 1, up: 1, unknown: 0, failures: [] });

/** Programs that are ready at once; the reloader that is an init container ends at once. */
export const programs: ProgramModel = {
  runs: () => true,
  start(launch) {
    if (launch.command.includes("--once")) launch.exited(0);
    else launch.ready(true);
    return { terminate: () => launch.exited(0), kill: () => launch.exited(killedCode) };
  },
};

const killedCode = 137;

/** Reloaders that do not answer: what the operator does must not depend on them. */
export function silentSetting(): Setting {
  return {
    models: [programs],
    operators: [
      (process) => {
        const gateway: LoadedGateway = (podIP) =>
          process.call(`loaded ${podIP}`, "look", () => Promise.reject(new Error("no reloader answers")));
        return prometheusOperator(gateway, settings, everythingIsUp);
      },
    ],
  };
}

/** The revision of a deleted StatefulSet or DaemonSet stays under the name that the next one would take. */
export function keepsRevision(fault: Fault): boolean {
  return fault.kind === "E1" && ["statefulsets", "daemonsets"].includes(fault.child.resource);
}

/** A pod of a DaemonSet that was given other labels stays, beside the one that replaces it. */
export function releasesPod(fault: Fault): boolean {
  return fault.kind === "E2" && fault.child.resource === "pods";
}

/**
 * Ports are merged by their numbers: beside one whose number was changed by hand, the server takes no other
 * one of the same name.
 */
export function renumbersPort(fault: Fault): boolean {
  return fault.kind === "E2" && ["services", "statefulsets", "daemonsets"].includes(fault.child.resource);
}

/** Reloaders of the world: they have loaded what is in the objects, unless Prometheus refuses it. */
export class SimulatedReloaders {
  /** What Prometheus says when it refuses every configuration. */
  refusal: string | undefined;
  #loaded: LoadedReport = {};

  readonly gateway: LoadedGateway = () => Promise.resolve(this.#loaded);

  /** The mounted files of all pods have changed; `name` is the Secret with the configuration, if any. */
  async mount(world: World, name: string | undefined): Promise<void> {
    const rules = await world.list(ConfigMap);
    const files = rules.flatMap(({ metadata, data = {} }) =>
      Object.entries(data).map(([file, text]) => [`${metadata.name}/${file}`, text] as const),
    );
    const mounted = new Map(files.filter(([file]) => file.endsWith(".yaml")));
    const configuration = name === undefined ? "" : configurationIn(await world.get(Secret, name));
    const hash = configurationHash(configuration, mounted);
    this.#loaded =
      this.refusal === undefined
        ? { hash }
        : { ...this.#loaded, failing: { hash, message: this.refusal, since: "2026-01-01T00:00:00Z" } };
  }
}

export function configurationIn(secret: Secret): string {
  return gunzipSync(Buffer.from(secret.data?.["prometheus.yaml.gz"] ?? "", "base64")).toString();
}

export interface Stage {
  readonly world: World;
  readonly reloaders: SimulatedReloaders;
}

export async function setUp(seed: number): Promise<Stage> {
  const reloaders = new SimulatedReloaders();
  const world = await simulate({
    seed,
    models: [programs],
    operators: [prometheusOperator(reloaders.gateway, settings, everythingIsUp)],
  });
  return { world, reloaders };
}

export function agent(spec: Partial<PrometheusAgentSpec> = {}): PrometheusAgent {
  return PrometheusAgent({ name: "main", spec: { serviceMonitorSelector: {}, ...spec } });
}

/** One that has a pod on each node, and scrapes the pods of it. */
export function nodeAgent(): PrometheusAgent {
  return PrometheusAgent({ name: "main", spec: { mode: "DaemonSet", podMonitorSelector: {} } });
}

export function podMonitor(name: string): PodMonitor {
  const spec = { selector: { matchLabels: { app: name } }, podMetricsEndpoints: [{ port: "web" }] };
  return PodMonitor({ name, spec });
}

export function prometheus(spec: Partial<PrometheusSpec> = {}): Prometheus {
  return Prometheus({ name: "main", spec: { serviceMonitorSelector: {}, ruleSelector: {}, ...spec } });
}

export function monitor(name: string, endpoint: Partial<ServiceEndpoint> = { port: "web" }): ServiceMonitor {
  return ServiceMonitor({ name, spec: { selector: { matchLabels: { app: name } }, endpoints: [endpoint] } });
}

/** Asks a prober about one address. */
export function probe(name: string, address = "example.com"): Probe {
  const spec = { prober: { url: "prober:9115", path: "/probe" }, targets: { staticConfig: { static: [address] } } };
  return Probe({ name, spec });
}

/** Scrapes one address, which a server names. */
export function scrapeConfig(name: string, url = "http://targets.example/"): ScrapeConfig {
  return ScrapeConfig({ name, spec: { httpSDConfigs: [{ url }] } });
}

export function rules(name: string, ...list: readonly Rule[]): PrometheusRule {
  return PrometheusRule({ name, spec: { groups: [{ name, rules: list }] } });
}
