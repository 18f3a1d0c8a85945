/** What all metrics of an autoscaler ask for together. */
import type { HorizontalPodAutoscaler, MetricSpec, MetricStatus, MetricTarget, Pod } from "@setpoint/api";
import { formatQuantity, parseQuantity } from "@setpoint/apimachinery";
import type { Scale, Stored } from "@setpoint/client";
import type { ReconcileContext } from "@setpoint/runtime";
import { milliOf, proposeReplicas, type Proposal, type Tolerance, type UsageTarget } from "./replica-count.ts";
import { readUsage } from "./resource-usage.ts";

/** One metric's proposal, or the reason and the sentence of the condition ScalingActive. */
type MetricOutcome =
  | { readonly kind: "proposed"; readonly replicas: number; readonly metric: string; readonly status: MetricStatus }
  | { readonly kind: "failed"; readonly reason: string; readonly message: string; readonly what: string };

export interface MetricsOutcome {
  /** Undefined when nothing may be changed: no metric is valid, or one that is not might need more. */
  readonly proposed: { readonly replicas: number; readonly metric: string } | undefined;
  readonly statuses: readonly MetricStatus[];
  readonly failures: readonly { readonly reason: string; readonly message: string }[];
  /** The sentence on all failures; empty without any. */
  readonly failure: string;
}

export interface MetricsInput {
  readonly autoscaler: Stored<HorizontalPodAutoscaler>;
  readonly scale: Scale;
  readonly pods: readonly Stored<Pod>[];
}

/** The highest proposal counts. */
export async function proposeByMetrics(input: MetricsInput, context: ReconcileContext): Promise<MetricsOutcome> {
  const { metrics = [] } = input.autoscaler.spec;
  const outcomes = await Promise.all(metrics.map((metric) => proposeByMetric(metric, input, context)));
  const failures = outcomes.filter((each) => each.kind === "failed");
  const valid = outcomes.filter((each) => each.kind === "proposed");
  const highest = valid.reduce<(typeof valid)[number] | undefined>(
    (best, each) => (best === undefined || each.replicas > best.replicas ? each : best),
    undefined,
  );
  const isHeld = failures.length > 0 && highest !== undefined && highest.replicas < input.scale.replicas;
  const [first] = failures;
  const counted = `invalid metrics (${failures.length} invalid out of ${metrics.length})`;
  return {
    proposed: isHeld ? undefined : highest,
    statuses: valid.map(({ status }) => status),
    failures,
    failure: first === undefined ? "" : `${counted}, first error is: failed to get ${first.what}: ${first.message}`,
  };
}

function proposeByMetric(metric: MetricSpec, input: MetricsInput, context: ReconcileContext): Promise<MetricOutcome> {
  const { resource, containerResource } = metric;
  if (metric.type === "Resource" && resource !== undefined) return proposeByResource(resource, input, context);
  if (metric.type === "ContainerResource" && containerResource !== undefined)
    return proposeByResource(containerResource, input, context);
  return Promise.resolve(unserved(metric, input));
}

interface ResourceSource {
  readonly name: string;
  readonly container?: string;
  readonly target: MetricTarget;
}

async function proposeByResource(
  { name, container, target }: ResourceSource,
  { autoscaler, scale, pods }: MetricsInput,
  context: ReconcileContext,
): Promise<MetricOutcome> {
  const reason = container === undefined ? "FailedGetResourceMetric" : "FailedGetContainerResourceMetric";
  const what = container === undefined ? `${name} resource metric value` : `${container} container metric value`;
  const failed = (message: string): MetricOutcome => ({ kind: "failed", reason, message, what });
  const wanted = targetOf(target);
  if (typeof wanted === "string") return failed(wanted);
  const measure = `failed to get ${name} ${wanted.kind === "average" ? "usage" : "utilization"}`;
  const own = container === undefined ? {} : { container };
  const query = { namespace: autoscaler.metadata.namespace ?? "", selector: scale.selector, resource: name, ...own };
  const usage = await readUsage(query, context);
  if (typeof usage === "string") return failed(`${measure}: unable to get metrics for resource ${name}: ${usage}`);
  const proposal = proposeReplicas({
    ...{ currentReplicas: scale.replicas, pods, usage, resource: name, ...own, target: wanted },
    tolerance: toleranceOf(autoscaler),
    nowMs: context.host.clock.now(),
  });
  if (typeof proposal === "string") return failed(`${measure}: ${proposal}`);
  return {
    kind: "proposed",
    replicas: proposal.replicas,
    metric: nameOf(name, container, wanted),
    status: statusOf(name, container, proposal),
  };
}

function nameOf(resource: string, container: string | undefined, { kind }: UsageTarget): string {
  if (kind === "average") return `${resource} resource`;
  return `${resource} ${container === undefined ? "" : "container "}resource utilization (percentage of request)`;
}

function statusOf(name: string, container: string | undefined, proposal: Proposal): MetricStatus {
  const averageValue = amountOf(name, proposal.averageMilli);
  const { utilization } = proposal;
  const current = { ...(utilization === undefined ? {} : { averageUtilization: utilization }), averageValue };
  return container === undefined
    ? { type: "Resource", resource: { name, current } }
    : { type: "ContainerResource", containerResource: { name, container, current } };
}

/** Memory in the units of memory. */
function amountOf(resource: string, milli: number): string {
  const exact = parseQuantity(`${milli}m`);
  return formatQuantity(resource === "memory" ? { ...exact, format: "BinarySI" } : exact);
}

function targetOf({ averageValue, averageUtilization }: MetricTarget): UsageTarget | string {
  if (averageValue !== undefined) return { kind: "average", milli: milliOf(averageValue) };
  if (averageUtilization !== undefined) return { kind: "utilization", percent: averageUtilization };
  return "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set";
}

const toleranceDefault = 0.1;

function toleranceOf({ spec: { behavior } }: HorizontalPodAutoscaler): Tolerance {
  const own = (text: string | undefined): number => (text === undefined ? toleranceDefault : milliOf(text) / 1_000);
  return { up: own(behavior?.scaleUp?.tolerance), down: own(behavior?.scaleDown?.tolerance) };
}

/** Metrics of APIs that only an adapter serves. */
function unserved(metric: MetricSpec, { autoscaler }: MetricsInput): MetricOutcome {
  const { type, pods, object, external } = metric;
  if (type === "External") {
    const name = external?.metric.name ?? "";
    const at = `${autoscaler.metadata.namespace ?? ""}/${name}`;
    const message = `unable to get external metric ${at}: no external metrics API (external.metrics.k8s.io) registered`;
    return { kind: "failed", reason: "FailedGetExternalMetric", message, what: `${name} external metric value` };
  }
  const name = (pods ?? object)?.metric.name ?? "";
  const message = `unable to get metric ${name}: no custom metrics API (custom.metrics.k8s.io) registered`;
  return { kind: "failed", reason: `FailedGet${type}Metric`, message, what: `${type.toLowerCase()} metric value` };
}
