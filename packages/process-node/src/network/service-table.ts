/** Services and their endpoints as proxy and DNS see them: pure look-ups over the mirrors. */
import type { Endpoint, EndpointSlice, Service, ServicePort } from "@setpoint/api";
import { isPort } from "./ipv4.ts";

export interface EndpointAddress {
  readonly address: string;
  readonly hostname?: string;
  readonly isReady: boolean;
  /** Port name → number. */
  readonly ports: ReadonlyMap<string, number>;
}

export interface ServiceTable {
  services(): Iterable<Service>;
  find(namespace: string, name: string): Service | undefined;
  endpoints(namespace: string, name: string): readonly EndpointAddress[];
}

export function createServiceTable(
  services: () => Iterable<Service>,
  slices: () => Iterable<EndpointSlice>,
): ServiceTable {
  const isNamed = (service: Service, namespace: string, name: string): boolean =>
    service.metadata.namespace === namespace && service.metadata.name === name;
  return {
    services,
    find: (namespace, name) => Iterator.from(services()).find((service) => isNamed(service, namespace, name)),
    endpoints: (namespace, name) =>
      distinct(
        Iterator.from(slices())
          .filter(
            ({ metadata }) =>
              metadata.namespace === namespace && metadata.labels?.["kubernetes.io/service-name"] === name,
          )
          .filter(({ addressType }) => addressType === "IPv4")
          .flatMap((slice) => (slice.endpoints ?? []).map((endpoint) => endpointAddress(slice, endpoint))),
      ),
  };
}

/** An endpoint that moves from one slice of a Service to another is in both for a moment. */
function distinct(addresses: Iterable<EndpointAddress>): readonly EndpointAddress[] {
  const found = new Map<string, EndpointAddress>();
  for (const each of addresses) {
    const key = JSON.stringify([each.address, ...each.ports]);
    if (!found.has(key) || each.isReady) found.set(key, each);
  }
  return [...found.values()];
}

export function hasClusterIp(service: Service): boolean {
  const { clusterIP = "", type } = service.spec;
  return type !== "ExternalName" && clusterIP !== "" && clusterIP !== "None";
}

/** Where connections to one port of a Service go. */
export function backends(
  table: ServiceTable,
  service: Service,
  port: ServicePort,
): { readonly host: string; readonly port: number }[] {
  const { namespace = "default", name = "" } = service.metadata;
  return table
    .endpoints(namespace, name)
    .filter(({ isReady }) => isReady)
    .flatMap(({ address, ports }) => {
      const number = ports.get(port.name ?? "");
      return number === undefined ? [] : [{ host: address, port: number }];
    });
}

function endpointAddress(slice: EndpointSlice, endpoint: Endpoint): EndpointAddress {
  const ports = (slice.ports ?? []).flatMap(({ name = "", port }) =>
    // Users write numbers that are no ports; each would spoil the rules, the listeners or the answers of all
    // the others.
    port === undefined || !isPort(port) ? [] : [[name, port] as const],
  );
  return {
    address: endpoint.addresses[0] ?? "",
    ...(endpoint.hostname === undefined ? {} : { hostname: endpoint.hostname }),
    // Absent means ready, by the API's own words.
    isReady: endpoint.conditions?.ready !== false,
    ports: new Map(ports),
  };
}
