/** What a Service says of the pods behind it. */
import type { Pod, Service } from "@setpoint/api";
import { isReady } from "../pod-state.ts";
import { type Endpoint, type EndpointGroup, portsKey } from "./slice-plan.ts";

export interface Port {
  readonly name: string;
  readonly port: number;
  readonly protocol: "SCTP" | "TCP" | "UDP";
}

/**
 * The ports as numbers; a named target port is looked up in the pod, and left out while there is none that
 * has it.
 */
export function portsOf(service: Service, pod: Pod | undefined): readonly Port[] {
  const named = namedPorts(pod);
  return (service.spec?.ports ?? []).flatMap(({ name = "", port, protocol = "TCP", targetPort = port }) => {
    const number = typeof targetPort === "number" ? targetPort : named.get(targetPort);
    return number === undefined ? [] : [{ name, port: number, protocol }];
  });
}

/** The first port of each name: users choose how many there are, of the pod's and of the Service's. */
function namedPorts(pod: Pod | undefined): ReadonlyMap<string, number> {
  const named = new Map<string, number>();
  for (const { ports = [] } of pod?.spec?.containers ?? [])
    for (const { name, containerPort } of ports)
      if (name !== undefined && !named.has(name)) named.set(name, containerPort);
  return named;
}

/** Pods by the numbers that the Service's ports have in them; without pods the group of none. */
export function podGroups(
  service: Service,
  pods: readonly Pod[],
): readonly { readonly ports: readonly Port[]; readonly pods: readonly Pod[] }[] {
  // Mostly all pods have the same numbers, and a Service may have many ports.
  if (!(service.spec?.ports ?? []).some(({ targetPort }) => typeof targetPort === "string"))
    return [{ ports: portsOf(service, undefined), pods }];
  const groups = new Map<string, { readonly ports: readonly Port[]; readonly pods: Pod[] }>();
  for (const pod of pods) {
    const ports = portsOf(service, pod);
    const key = portsKey(ports);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { ports, pods: [pod] });
    else group.pods.push(pod);
  }
  return groups.size > 0 ? [...groups.values()] : [{ ports: portsOf(service, undefined), pods: [] }];
}

export function endpointGroups(service: Service, pods: readonly Pod[]): readonly EndpointGroup[] {
  return podGroups(service, pods).map((group) => ({
    ports: group.ports,
    endpoints: group.pods.map((pod) => endpointOf(service, pod)),
  }));
}

function endpointOf(service: Service, pod: Pod): Endpoint {
  return { addresses: [pod.status?.podIP ?? ""], conditions: conditionsOf(service, pod), ...placeOf(service, pod) };
}

/** What slices and the older Endpoints say alike. */
export function placeOf(service: Service, pod: Pod): Pick<Endpoint, "hostname" | "nodeName" | "targetRef"> {
  const { name = "", namespace = "", uid = "" } = pod.metadata;
  // The name in the Service's DNS that a pod asks for by its hostname and subdomain.
  const hostname = pod.spec?.subdomain === service.metadata.name ? pod.spec?.hostname : undefined;
  return {
    ...(hostname === undefined ? {} : { hostname }),
    ...(pod.spec?.nodeName === undefined ? {} : { nodeName: pod.spec.nodeName }),
    targetRef: { kind: "Pod", name, namespace, uid },
  };
}

export function conditionsOf(
  service: Service,
  pod: Pod,
): { readonly ready: boolean; readonly serving: boolean; readonly terminating: boolean } {
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const serving = isReady(pod);
  return { ready: (serving && !terminating) || service.spec?.publishNotReadyAddresses === true, serving, terminating };
}
