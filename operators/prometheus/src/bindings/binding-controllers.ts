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
import { PodMonitor } from "../kind/pod-monitor.ts";
import { Probe } from "../kind/probe.ts";
import { Prometheus } from "../kind/prometheus.ts";
import { PrometheusRule } from "../kind/prometheus-rule.ts";
import { ScrapeConfig } from "../kind/scrape-config.ts";
import { ServiceMonitor } from "../kind/service-monitor.ts";
import { readAssets } from "../observe/read-assets.ts";
import { renderRule } from "../rules/rule-files.ts";
import type { Refusal } from "../select/refusal.ts";
import { keysOfClients, type StatedClient } from "../select/scrape-clients.ts";
import { scrapeKinds } from "../select/scrape-objects.ts";
import type { ConfigurationKind } from "../select/selection.ts";
import { type Binding, bindingsOf, type Bound, type Judge } from "./bindings.ts";

type Controller = ReturnType<typeof controller>;
type Bindable = ServiceMonitor | PodMonitor | Probe | ScrapeConfig | PrometheusRule;

/** Nothing tells of a Secret that is created later. */
const recheckMs = 60_000;

/** How one kind is checked. */
interface Subject<T> {
  readonly kind: ConfigurationKind;
  /** They name the keys of Secrets that the check needs. */
  readonly clients: (object: T) => readonly StatedClient[];
  readonly check: (judge: Judge, object: T) => Refusal | undefined;
}

export const bindingControllers: readonly Controller[] = [
  bindingController(ServiceMonitor, { kind: "ServiceMonitor", ...scrapeKinds.ServiceMonitor }),
  bindingController(PodMonitor, { kind: "PodMonitor", ...scrapeKinds.PodMonitor }),
  bindingController(Probe, { kind: "Probe", ...scrapeKinds.Probe }),
  bindingController(ScrapeConfig, { kind: "ScrapeConfig", ...scrapeKinds.ScrapeConfig }),
  bindingController(PrometheusRule, { kind: "PrometheusRule", clients: () => [], check: checkRule }),
];

function checkRule({ prometheus, version }: Judge, rule: PrometheusRule): Refusal | undefined {
  const rendered = renderRule(prometheus, version, rule);
  return "refusal" in rendered ? rendered.refusal : undefined;
}

function bindingController<T extends Bindable>(kind: KindRef<T>, subject: Subject<T>): Controller {
  const wakesAll = <W extends KubeObject>(of: KindRef<W>): ReturnType<typeof watching<W>> =>
    watching<W>(of, (_, cache) => cache.list(kind, { allNamespaces: true }).map(keyOf), {
      // What a Prometheus reports in its status does not matter here.
      predicate: anyOf<W>(generationChanged<W>(), labelsChanged<W>()),
    });
  return controller(kind, {
    watches: [wakesAll(Prometheus), wakesAll(Namespace)],
    reconcile: (object, context) => bind(object, subject, context),
  });
}

async function bind<T extends Bindable>(
  object: Stored<T> & Bound,
  { kind, clients, check }: Subject<T>,
  context: ReconcileContext,
): Promise<Result> {
  const keys = keysOfClients(object.metadata.namespace ?? "", clients(object));
  const bindings = bindingsOf(
    kind,
    object,
    {
      prometheuses: context.list(Prometheus, { allNamespaces: true }),
      namespaces: context.list(Namespace, { allNamespaces: true }),
      assets: await readAssets(
        keys.map(({ asset }) => asset),
        context,
      ),
      now: timestamp(context.host.clock),
    },
    check,
  );
  const hadNone = (object.status?.bindings ?? []).length === 0;
  if (!(hadNone && bindings.length === 0)) await context.status({ bindings });
  return bindings.some(isRefused) ? context.requeueAfter(recheckMs, "check it again") : context.awaitChange();
}

function isRefused({ conditions = [] }: Binding): boolean {
  return conditions.some(({ status }) => status === "False");
}
