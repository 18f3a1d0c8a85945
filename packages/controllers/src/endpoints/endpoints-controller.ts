import { EndpointSlice, Endpoints, Pod, Service } from "@setpoint/api";
import type { CacheReader } from "@setpoint/runtime";
import { controller, type ControllerDefinition } from "@setpoint/runtime";
import type { Stored } from "@setpoint/client";
import { matchesLabelSelector } from "../matches-selector.ts";
import { isFinished, isReady } from "../pod-state.ts";

/** Publishes the addresses of the pods behind each Service with a selector, as EndpointSlice and as Endpoints. */
export const endpoints: ControllerDefinition = controller(Service, {
  name: "endpoints",
  owns: [EndpointSlice],
  watches: [
    { of: Pod, wakes: servicesOf },
    { of: Endpoints, wakes: (each) => [{ namespace: each.metadata.namespace ?? "", name: each.metadata.name ?? "" }] },
  ],
  async reconcile(service, context) {
    const selector = service.spec?.selector;
    if (selector === undefined || Object.keys(selector).length === 0) return;
    const pods = context
      .list(Pod, { namespace: service.metadata.namespace ?? "", labels: selector })
      .filter((pod) => !isFinished(pod) && (pod.status?.podIP ?? "") !== "")
      .sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
    await context.apply(sliceOf(service, pods));
    await context.apply(endpointsOf(service, pods), { owner: false });
  },
});

function servicesOf(pod: Stored<Pod>, cache: CacheReader): readonly { namespace: string; name: string }[] {
  const namespace = pod.metadata.namespace ?? "";
  return cache
    .list(Service, { namespace })
    .filter(({ spec }) => spec?.selector !== undefined && Object.keys(spec.selector).length > 0)
    .filter(({ spec }) => matchesLabelSelector({ matchLabels: spec?.selector ?? {} }, pod.metadata.labels ?? {}))
    .map((service) => ({ namespace, name: service.metadata.name ?? "" }));
}

interface Port {
  readonly name: string;
  readonly port: number;
  readonly protocol: "SCTP" | "TCP" | "UDP";
}

/** The ports as numbers; a named target port is looked up in the pods, and left out while no pod has it. */
function portsOf(service: Service, pods: readonly Pod[]): readonly Port[] {
  return (service.spec?.ports ?? []).flatMap(({ name = "", port, protocol = "TCP", targetPort = port }) => {
    const number = typeof targetPort === "number" ? targetPort : namedPort(pods, targetPort);
    return number === undefined ? [] : [{ name, port: number, protocol }];
  });
}

function namedPort(pods: readonly Pod[], name: string): number | undefined {
  for (const pod of pods)
    for (const container of pod.spec?.containers ?? [])
      for (const port of container.ports ?? []) if (port.name === name) return port.containerPort;
  return undefined;
}

function targetRef(pod: Pod): object {
  const { name, namespace, uid } = pod.metadata;
  return { kind: "Pod", name, namespace, uid };
}

/** The name in the Service's DNS that a pod asks for by its hostname and subdomain. */
function hostnameOf(service: Service, pod: Pod): string | undefined {
  return pod.spec?.subdomain === service.metadata.name ? pod.spec?.hostname : undefined;
}

function isServing(
  service: Service,
  pod: Pod,
): { readonly ready: boolean; readonly serving: boolean; readonly terminating: boolean } {
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const serving = isReady(pod);
  return { ready: (serving && !terminating) || service.spec?.publishNotReadyAddresses === true, serving, terminating };
}

function sliceOf(service: Service, pods: readonly Pod[]): EndpointSlice {
  const { name = "", namespace = "" } = service.metadata;
  const headless = service.spec?.clusterIP === "None";
  return EndpointSlice({
    name: `${name}-ipv4`,
    namespace,
    labels: {
      ...service.metadata.labels,
      "kubernetes.io/service-name": name,
      "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
      ...(headless ? { "service.kubernetes.io/headless": "" } : {}),
    },
    addressType: "IPv4",
    endpoints: pods.map((pod) => {
      const hostname = hostnameOf(service, pod);
      return {
        addresses: [pod.status?.podIP ?? ""],
        conditions: isServing(service, pod),
        ...(hostname === undefined ? {} : { hostname }),
        ...(pod.spec?.nodeName === undefined ? {} : { nodeName: pod.spec.nodeName }),
        targetRef: targetRef(pod),
      };
    }),
    ports: portsOf(service, pods),
  });
}

function endpointsOf(service: Service, pods: readonly Pod[]): Endpoints {
  const { name = "", namespace = "" } = service.metadata;
  const ports = portsOf(service, pods);
  const addresses = (ready: boolean): readonly object[] =>
    pods
      .filter((pod) => isServing(service, pod).ready === ready)
      .map((pod) => {
        const hostname = hostnameOf(service, pod);
        return {
          ip: pod.status?.podIP ?? "",
          ...(hostname === undefined ? {} : { hostname }),
          ...(pod.spec?.nodeName === undefined ? {} : { nodeName: pod.spec.nodeName }),
          targetRef: targetRef(pod),
        };
      });
  const ready = addresses(true);
  const notReady = addresses(false);
  const subset = {
    ...(ready.length > 0 ? { addresses: ready } : {}),
    ...(notReady.length > 0 ? { notReadyAddresses: notReady } : {}),
    ports,
  };
  return Endpoints({
    name,
    namespace,
    labels: { ...service.metadata.labels, "endpoints.kubernetes.io/managed-by": "endpoint-controller" },
    // The subsets' addresses are those of pods, whose shape the API types name more narrowly.
    subsets: pods.length === 0 ? [] : [subset as NonNullable<Endpoints["subsets"]>[number]],
  });
}
