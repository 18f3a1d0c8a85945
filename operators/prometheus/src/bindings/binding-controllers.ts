/** Controllers that write into monitors and rules which Prometheuses use them. */
import { timestamp } from "@setpoint/host";
import {
  controller,
  keyOf,
  type KindRef,
  type KubeObject,
  type ReconcileContext,
  type Result,
  type Stored,
  watching,
} from "setpoint";
import { Namespace } from "setpoint/kinds";
import { anyOf, generationChanged, labelsChanged } from "setpoint/sources";
import type { Assets } from "../generate/assets.ts";
import { PodMonitor } from "../kind/pod-monitor.ts";
import { Probe } from "../kind/probe.ts";
import { Prometheus } from "../kind/prometheus.ts";
import { PrometheusAgent } from "../kind/prometheus-agent.ts";
import { PrometheusRule } from "../kind/prometheus-rule.ts";
import { ScrapeConfig } from "../kind/scrape-config.ts";
import { ThanosRuler } from "../kind/thanos-ruler.ts";
import { ServiceMonitor } from "../kind/service-monitor.ts";
import { readAssets } from "../observe/read-assets.ts";
import { keysOfClients, type StatedClient } from "../select/scrape-clients.ts";
import { type ScrapeKind, scrapeKinds } from "../select/scrape-objects.ts";
import type { ConfigurationKind } from "../select/selection.ts";
import { ruleUsers, scrapingUsers, type Workloads } from "./binding-users.ts";
import { type Binding, bindingsOf, type Bound, type User } from "./bindings.ts";

type Controller = ReturnType<typeof controller>;
type Bindable = ServiceMonitor | PodMonitor | Probe | ScrapeConfig | PrometheusRule;

/** Nothing tells of a Secret that is created later. */
const recheckMs = 60_000;

/** How one kind is checked. */
interface Subject<T> {
  readonly kind: ConfigurationKind;
  /** They name the keys of Secrets that the check needs. */
  readonly clients: (object: T) => readonly StatedClient[];
  readonly users: (workloads: Workloads, assets: Assets) => readonly User<T>[];
}

export const bindingControllers: readonly Controller[] = [
  bindingController(ServiceMonitor, scraping("ServiceMonitor", scrapeKinds.ServiceMonitor)),
  bindingController(PodMonitor, scraping("PodMonitor", scrapeKinds.PodMonitor)),
  bindingController(Probe, scraping("Probe", scrapeKinds.Probe)),
  bindingController(ScrapeConfig, scraping("ScrapeConfig", scrapeKinds.ScrapeConfig)),
  bindingController(PrometheusRule, { kind: "PrometheusRule", clients: () => [], users: ruleUsers }),
];

function scraping<T>(kind: ConfigurationKind, { clients, check }: ScrapeKind<T>): Subject<T> {
  return { kind, clients, users: (workloads, assets) => scrapingUsers(workloads, assets, check) };
}

function bindingController<T extends Bindable>(kind: KindRef<T>, subject: Subject<T>): Controller {
  const wakesAll = <W extends KubeObject>(of: KindRef<W>): ReturnType<typeof watching<W>> =>
    watching<W>(of, (_, cache) => cache.list(kind, { allNamespaces: true }).map(keyOf), {
      // What a workload reports in its status does not matter here.
      predicate: anyOf<W>(generationChanged<W>(), labelsChanged<W>()),
    });
  return controller(kind, {
    watches: [wakesAll(Prometheus), wakesAll(PrometheusAgent), wakesAll(ThanosRuler), wakesAll(Namespace)],
    reconcile: (object, context) => bind(object, subject, context),
  });
}

async function bind<T extends Bindable>(
  object: Stored<T> & Bound,
  { kind, clients, users }: Subject<T>,
  context: ReconcileContext,
): Promise<Result> {
  const keys = keysOfClients(object.metadata.namespace ?? "", clients(object)).map(({ asset }) => asset);
  const workloads = {
    prometheuses: context.list(Prometheus, { allNamespaces: true }),
    agents: context.list(PrometheusAgent, { allNamespaces: true }),
    rulers: context.list(ThanosRuler, { allNamespaces: true }),
  };
  const bindings = bindingsOf(kind, object, users(workloads, await readAssets(keys, context)), {
    namespaces: context.list(Namespace, { allNamespaces: true }),
    now: timestamp(context.host.clock),
  });
  const hadNone = (object.status?.bindings ?? []).length === 0;
  if (!(hadNone && bindings.length === 0)) await context.status({ bindings });
  return bindings.some(isRefused) ? context.requeueAfter(recheckMs, "check it again") : context.awaitChange();
}

function isRefused({ conditions = [] }: Binding): boolean {
  return conditions.some(({ status }) => status === "False");
}
