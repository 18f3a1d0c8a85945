import { Endpoints, EndpointSlice, Pod, Service } from "@setpoint/api";
import { deepEqual, matchesLabelSelector } from "@setpoint/apimachinery";
import type { CacheReader, ReconcileContext } from "@setpoint/runtime";
import { controller, type ControllerDefinition } from "@setpoint/runtime";
import type { Stored } from "@setpoint/client";
import { isFinished, isReady } from "../pod-state.ts";
import { endpointsOf } from "./endpoints-object.ts";
import { endpointGroups } from "./pod-endpoints.ts";
import { planSlices, presentSlice, type PlannedSlice } from "./slice-plan.ts";

/** A Service may own slices of other controllers, too. */
const managedBy = "endpointslice.kubernetes.io/managed-by";
const self = "endpointslice-controller.k8s.io";

/**
 * Publishes the addresses of the pods behind each Service with a selector, as EndpointSlices and as
 * Endpoints.
 */
export const endpoints: ControllerDefinition = controller(Service, {
  name: "endpoints",
  eventSource: "endpoint-slice-controller",
  owns: [EndpointSlice],
  watches: [
    { of: Pod, wakes: servicesOf, predicate: changesPublished },
    { of: Endpoints, wakes: (each) => [{ namespace: each.metadata.namespace ?? "", name: each.metadata.name ?? "" }] },
  ],
  async reconcile(service, context) {
    const selector = service.spec?.selector;
    if (selector === undefined || Object.keys(selector).length === 0) return;
    const pods = context
      .list(Pod, { labels: selector })
      .filter(isEndpoint)
      .sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
    await writeSlices(service, pods, context);
    await context.apply(endpointsOf(service, pods), { owner: false });
  },
});

function isEndpoint(pod: Pod): boolean {
  return !isFinished(pod) && (pod.status?.podIP ?? "") !== "";
}

/** What of a pod its Services publish or select by, and can change: most changes of a pod are others. */
function publishedOf(pod: Pod): unknown {
  if (!isEndpoint(pod)) return undefined;
  const { labels, deletionTimestamp } = pod.metadata;
  return { labels, deletionTimestamp, ip: pod.status?.podIP, node: pod.spec?.nodeName, ready: isReady(pod) };
}

function changesPublished(old: Stored<Pod>, next: Stored<Pod>): boolean {
  return !deepEqual(publishedOf(old), publishedOf(next));
}

function servicesOf(pod: Stored<Pod>, cache: CacheReader): readonly { namespace: string; name: string }[] {
  if (!isEndpoint(pod)) return [];
  const namespace = pod.metadata.namespace ?? "";
  return cache
    .list(Service, { namespace })
    .filter(({ spec }) => spec?.selector !== undefined && Object.keys(spec.selector).length > 0)
    .filter(({ spec }) => matchesLabelSelector({ matchLabels: spec?.selector ?? {} }, pod.metadata.labels ?? {}))
    .map((service) => ({ namespace, name: service.metadata.name ?? "" }));
}

async function writeSlices(service: Stored<Service>, pods: readonly Pod[], context: ReconcileContext): Promise<void> {
  const owned = context.children.list(EndpointSlice).filter(({ metadata }) => metadata.labels?.[managedBy] === self);
  const present = owned.map(presentSlice).sort((a, b) => (a.name < b.name ? -1 : 1));
  const nameOf = (number: number): string => `${service.metadata.name}-ipv4${number === 1 ? "" : `-${number}`}`;
  const planned = planSlices(present, endpointGroups(service, pods), nameOf);
  for (const slice of planned) await context.apply(sliceOf(service, slice));
  // Afterwards: an endpoint that is in two slices for a moment serves, one that is in none does not.
  const needed = new Set(planned.map(({ name }) => name));
  for (const slice of owned) if (!needed.has(slice.metadata.name)) await context.delete(slice);
}

function sliceOf(service: Service, { name, ports, endpoints: held }: PlannedSlice): EndpointSlice {
  const { name: serviceName = "", namespace = "" } = service.metadata;
  const headless = service.spec?.clusterIP === "None";
  return EndpointSlice({
    name,
    namespace,
    labels: {
      ...service.metadata.labels,
      "kubernetes.io/service-name": serviceName,
      [managedBy]: self,
      ...(headless ? { "service.kubernetes.io/headless": "" } : {}),
    },
    addressType: "IPv4",
    endpoints: held,
    ports,
  });
}
