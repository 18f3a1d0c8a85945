/** Reads what the selector of an object finds, with a bounded number of requests; decides nothing. */
import type { EndpointSlice, Pod, Service } from "setpoint/kinds";
import { selectorText } from "../generate/discovery.ts";
import type { DiscoveryReader, Wanted } from "./discovery-reader.ts";
import type { Candidate, Discovered, DiscoveredFacts, PortFacts } from "./target-facts.ts";

/** So many namespaces and Services are looked at; more would say nothing new. */
const namespacesMax = 10;
const servicesMax = 20;

export interface DiscoveryOptions {
  /** The names of the namespaces that exist. */
  readonly namespaces: ReadonlySet<string>;
  /** Whether an endpoint names a port of containers. */
  readonly withContainers: boolean;
}

export async function observeDiscovery(
  discovered: Discovered,
  reader: DiscoveryReader,
  options: DiscoveryOptions,
): Promise<DiscoveredFacts> {
  const missingNamespaces = (discovered.namespaces ?? []).filter((name) => !options.namespaces.has(name));
  const facts = { ...discovered, missingNamespaces };
  try {
    const matching = await candidates(discovered, reader, options, selectorText(discovered.selector));
    const others =
      matching.length > 0 ? [] : await candidates(discovered, reader, { ...options, withContainers: false });
    return { ...facts, matching, others };
  } catch (error) {
    const unread = `Cannot read what the selector finds: ${error instanceof Error ? error.message : String(error)}`;
    return { ...facts, matching: [], others: [], unread };
  }
}

async function candidates(
  { noun, namespaces }: Discovered,
  reader: DiscoveryReader,
  { namespaces: existing, withContainers }: DiscoveryOptions,
  labelSelector?: string,
): Promise<readonly Candidate[]> {
  const places = namespaces?.filter((name) => existing.has(name)).slice(0, namespacesMax) ?? [undefined];
  const found: Candidate[] = [];
  for (const namespace of places) {
    const wanted: Wanted = {
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined || labelSelector === "" ? {} : { labelSelector }),
    };
    if (noun === "pod") found.push(...(await reader.pods(wanted)).filter(isRunning).map(podCandidate));
    else if (noun === "Ingress")
      found.push(...(await reader.ingresses(wanted)).map((each) => candidate(each, [], undefined)));
    else {
      const services = await reader.services(wanted);
      // Without a match they are only compared by their labels.
      if (labelSelector === undefined)
        found.push(...services.map((each) => candidate(each, servicePorts(each), undefined)));
      else
        for (const each of services.slice(0, servicesMax))
          found.push(await serviceCandidate(each, reader, withContainers));
    }
  }
  return found;
}

function candidate(
  { metadata }: Pick<Service, "metadata">,
  ports: readonly PortFacts[],
  addresses: number | undefined,
): Candidate {
  const { namespace = "", name = "", labels = {} } = metadata;
  return { namespace, name, labels, ports, addresses };
}

/** Prometheus drops pods that have ended. */
function isRunning({ status }: Pod): boolean {
  return status?.phase !== "Failed" && status?.phase !== "Succeeded";
}

function podCandidate(pod: Pod): Candidate {
  return candidate(
    pod,
    containerPorts(pod),
    pod.status === undefined ? undefined : (pod.status.podIP ?? "") === "" ? 0 : 1,
  );
}

function containerPorts({ spec }: Pod): readonly PortFacts[] {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  return containers.flatMap(({ ports = [] }) =>
    ports.map(({ name, containerPort }) => ({ name, number: containerPort })),
  );
}

function servicePorts({ spec }: Service): readonly PortFacts[] {
  return (spec?.ports ?? []).map(({ name, port }) => ({ name, number: port }));
}

async function serviceCandidate(
  service: Service,
  reader: DiscoveryReader,
  withContainers: boolean,
): Promise<Candidate> {
  const { namespace = "", name = "" } = service.metadata;
  const slices = await reader.slices(namespace, name);
  const base = candidate(service, servicePorts(service), slices === undefined ? undefined : addressCount(slices));
  const selector = service.spec?.selector ?? {};
  if (!withContainers || Object.keys(selector).length === 0) return base;
  const pods = await reader.pods({ namespace, labelSelector: selectorText({ matchLabels: selector }) });
  return { ...base, containerPorts: pods.flatMap(containerPorts) };
}

function addressCount(slices: readonly EndpointSlice[]): number {
  const all = slices.flatMap(({ endpoints = [] }) => endpoints.flatMap(({ addresses }) => addresses));
  return new Set(all).size;
}
