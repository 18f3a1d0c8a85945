/** Controllers that write into monitors and Probes whether they are scraped, and else why not. */
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
import { Namespace, Pod } from "setpoint/kinds";
import { anyOf, generationChanged, labelsChanged } from "setpoint/sources";
import { PodMonitor } from "../kind/pod-monitor.ts";
import { Probe } from "../kind/probe.ts";
import { Prometheus } from "../kind/prometheus.ts";
import { PrometheusAgent } from "../kind/prometheus-agent.ts";
import { ScrapeConfig } from "../kind/scrape-config.ts";
import { ServiceMonitor } from "../kind/service-monitor.ts";
import type { PoolGateway } from "../observe/pool-gateway.ts";
import { isReady } from "../observe/ready-pods.ts";
import { managedSelector } from "../workload/names.ts";
import { explainTargets } from "./explain-targets.ts";
import type { Explanation } from "./explanation.ts";
import { observeTargets, type Scraping } from "./observe-targets.ts";
import { statedTargets, type StatedTargets, type TargetKind } from "./stated-targets.ts";

type Controller = ReturnType<typeof controller>;

const type = "Scraped";
/** Nothing tells of a target that goes down, or of a Service that is created later. */
const restMs = 300_000;
const lookAgainMsMin = 5_000;
const lookAgainMsMax = 60_000;

/** To read what selectors find, and to review what a Prometheus may do. */
export const targetPermissions = [
  { apiGroups: [""], resources: ["services", "pods"], verbs: ["list"] },
  { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list"] },
  { apiGroups: ["networking.k8s.io"], resources: ["ingresses"], verbs: ["list"] },
  { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
] as const;

export function targetControllers(gateway: PoolGateway): readonly Controller[] {
  return [
    targetController(ServiceMonitor, "ServiceMonitor", statedTargets.ServiceMonitor, gateway),
    targetController(PodMonitor, "PodMonitor", statedTargets.PodMonitor, gateway),
    targetController(Probe, "Probe", statedTargets.Probe, gateway),
    targetController(ScrapeConfig, "ScrapeConfig", statedTargets.ScrapeConfig, gateway),
  ];
}

function targetController<T extends Scraping>(
  kind: KindRef<T>,
  name: TargetKind,
  stated: (object: T) => StatedTargets,
  gateway: PoolGateway,
): Controller {
  const wakesAll = <W extends KubeObject>(of: KindRef<W>): ReturnType<typeof watching<W>> =>
    watching<W>(of, (_, cache) => cache.list(kind, { allNamespaces: true }).map(keyOf), {
      // What a Prometheus reports in its status does not matter here.
      predicate: anyOf<W>(generationChanged<W>(), labelsChanged<W>()),
    });
  return controller(kind, {
    name: `${name.toLowerCase()}-targets`,
    watches: [
      wakesAll(Prometheus),
      wakesAll(PrometheusAgent),
      wakesAll(Namespace),
      // One that can be asked again may scrape what was not scraped.
      watching(Pod, (pod, cache) => (isReady(pod) ? unscraped(cache.list(kind, { allNamespaces: true })) : []), {
        labelSelector: managedSelector,
      }),
    ],
    async reconcile(object, context) {
      const facts = await observeTargets({ kind: name, object, stated: stated(object) }, context, gateway);
      return tell(object, explainTargets(facts), context);
    },
  });
}

function unscraped<T extends KubeObject & Scraping>(objects: readonly Stored<T>[]): ReturnType<typeof keyOf>[] {
  return objects.filter(({ status }) => scraped(status)?.status !== "True").map(keyOf);
}

function scraped(status: Scraping["status"]): Condition | undefined {
  return status?.conditions?.find((each) => each.type === type);
}

type Condition = NonNullable<NonNullable<Scraping["status"]>["conditions"]>[number];

function tell(object: Stored<KubeObject> & Scraping, explanation: Explanation, context: ReconcileContext): Result {
  const before = scraped(object.status);
  const isNew = before?.status !== explanation.status || before.reason !== explanation.reason;
  const wasWrong = before?.status === "False";
  context.condition({ type, ...explanation });
  if (isNew && explanation.status === "False") context.event("Warning", explanation.reason, explanation.message);
  if (isNew && explanation.status === "True" && wasWrong)
    context.event("Normal", explanation.reason, explanation.message);
  if (explanation.status === "True") return context.requeueAfter(restMs, "ask Prometheus for the targets again");
  return context.requeueAfter(
    nextLookMs(isNew ? undefined : before, context.host.clock.now()),
    `Not scraped: ${explanation.reason}`,
  );
}

/** Soon at first, and less often for what has been the same for long; `before` is absent for a new reason. */
function nextLookMs(before: Condition | undefined, nowMs: number): number {
  const sameMs = before === undefined ? 0 : nowMs - Date.parse(before.lastTransitionTime);
  return Math.min(lookAgainMsMax, Math.max(lookAgainMsMin, sameMs / 4));
}
