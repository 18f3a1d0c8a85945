/**
 * Which records a name of the cluster has: pure, over the table of Services. The forms are those of the DNS
 * specification.
 */
import type { Service } from "@setpoint/api";
import { type DnsAnswer, type DnsRecord, dnsTypes } from "./dns-message.ts";
import { type EndpointAddress, hasClusterIp, type ServiceTable } from "./service-table.ts";

export const clusterDomain = "cluster.local";

const notFound: DnsAnswer = { code: 3, records: [] };
const refused: DnsAnswer = { code: 5, records: [] };

/** As many names as an ExternalName may lead to, one after the other. */
const aliasesMax = 8;

export function answerClusterName(table: ServiceTable, name: string, type: number): DnsAnswer {
  const answer = answerName(table, name, type);
  const found = [...answer.records];
  for (let i = 0; i < aliasesMax; i++) {
    const last = found.at(-1);
    if (last?.type !== "CNAME" || type === dnsTypes.CNAME) break;
    const next = answerName(table, last.target.toLowerCase().replace(/\.$/, ""), type).records;
    if (next.length === 0) break;
    found.push(...next);
  }
  return { ...answer, records: found };
}

function answerName(table: ServiceTable, name: string, type: number): DnsAnswer {
  if (name.endsWith(".in-addr.arpa")) return reverse(table, name);
  if (name === clusterDomain) return { code: 0, records: [] };
  // Refused sends a resolver to its next server; there is none for names of the world.
  if (!name.endsWith(`.${clusterDomain}`)) return refused;
  const labels = name.slice(0, -clusterDomain.length - 1).split(".");
  if (labels.at(-1) === "pod" && labels.length === 3) return podByAddress(name, labels[0] ?? "", type);
  if (labels.at(-1) !== "svc" || labels.length < 3)
    return labels.at(-1) === "svc" ? { code: 0, records: [] } : notFound;
  const service = table.find(labels.at(-2) ?? "", labels.at(-3) ?? "");
  if (service === undefined) return notFound;
  const records = serviceRecords(table, service, labels.slice(0, -3), name);
  if (records === undefined) return notFound;
  const wanted = records.filter(
    (record) => record.type === "CNAME" || type === dnsTypes.ANY || dnsTypes[record.type] === type,
  );
  return { code: 0, records: wanted };
}

/** `prefix` is what stands before the Service: nothing, a host name, or `_port._protocol`. */
function serviceRecords(
  table: ServiceTable,
  service: Service,
  prefix: readonly string[],
  name: string,
): DnsRecord[] | undefined {
  const base = serviceName(service);
  if (service.spec.type === "ExternalName")
    return prefix.length === 0 ? [{ name, type: "CNAME", target: service.spec.externalName ?? "" }] : undefined;
  const endpoints = visibleEndpoints(table, service);
  if (prefix.length === 2 && prefix[0]?.startsWith("_") === true)
    return portRecords(service, endpoints, prefix, name, base);
  if (prefix.length === 1) {
    const named = endpoints.filter((endpoint) => hostLabel(endpoint) === prefix[0]);
    return named.length === 0 ? undefined : named.map(({ address }) => ({ name, type: "A", address }));
  }
  if (prefix.length > 0) return undefined;
  if (hasClusterIp(service)) return [{ name, type: "A", address: service.spec.clusterIP ?? "" }];
  return endpoints.map(({ address }) => ({ name, type: "A", address }));
}

function portRecords(
  service: Service,
  endpoints: readonly EndpointAddress[],
  prefix: readonly string[],
  name: string,
  base: string,
): DnsRecord[] | undefined {
  const [portName, protocol] = prefix.map((label) => label.slice(1));
  const isWanted = (port: { readonly name?: string; readonly protocol?: string }): boolean =>
    port.name === portName && (port.protocol ?? "TCP").toLowerCase() === protocol;
  if (hasClusterIp(service)) {
    const port = service.spec.ports?.find(isWanted);
    return port === undefined ? undefined : [{ name, type: "SRV", port: port.port, target: base }];
  }
  return endpoints.flatMap((endpoint): DnsRecord[] => {
    const port = endpoint.ports.get(portName ?? "");
    return port === undefined ? [] : [{ name, type: "SRV", port, target: `${hostLabel(endpoint)}.${base}` }];
  });
}

export function serviceName({ metadata }: Service): string {
  return `${metadata.name}.${metadata.namespace}.svc.${clusterDomain}`;
}

export function visibleEndpoints(table: ServiceTable, service: Service): readonly EndpointAddress[] {
  const { namespace = "default", name = "" } = service.metadata;
  const all = table.endpoints(namespace, name);
  return service.spec.publishNotReadyAddresses === true ? all : all.filter(({ isReady }) => isReady);
}

/** Endpoints without a host name are named after their address. */
export function hostLabel({ hostname, address }: EndpointAddress): string {
  return hostname ?? address.replaceAll(".", "-");
}

function podByAddress(name: string, label: string, type: number): DnsAnswer {
  const address = label.replaceAll("-", ".");
  if (!/^\d+(\.\d+){3}$/.test(address)) return notFound;
  return { code: 0, records: type === dnsTypes.A ? [{ name, type: "A", address }] : [] };
}

function reverse(table: ServiceTable, name: string): DnsAnswer {
  const address = name.slice(0, -".in-addr.arpa".length).split(".").toReversed().join(".");
  for (const service of table.services()) {
    if (service.spec.clusterIP === address)
      return { code: 0, records: [{ name, type: "PTR", target: serviceName(service) }] };
    const endpoint = visibleEndpoints(table, service).find(
      (each) => each.address === address && each.hostname !== undefined,
    );
    if (endpoint === undefined) continue;
    return { code: 0, records: [{ name, type: "PTR", target: `${hostLabel(endpoint)}.${serviceName(service)}` }] };
  }
  return notFound;
}
