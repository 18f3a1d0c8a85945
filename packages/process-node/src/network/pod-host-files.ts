/** The files by which a pod knows itself and finds others: resolv.conf, hosts and hostname. */
import type { Pod } from "@setpoint/api";
import { podHostname, podIdentity } from "../cluster/pod.ts";
import { clusterDomain, hostLabel, serviceName, visibleEndpoints } from "./cluster-names.ts";
import { hasClusterIp, type ServiceTable } from "./service-table.ts";

export interface HostFilesOptions {
  readonly podIP: string;
  /** Absent when cluster DNS cannot listen here: then all names of the cluster stand in the hosts file. */
  readonly dnsAddress?: string;
  readonly table: ServiceTable;
  /** The host name of a pod with `hostNetwork`. */
  readonly nodeName: string;
}

export function podHostFiles(pod: Pod, options: HostFilesOptions): Record<string, string> {
  return {
    "/etc/hostname": `${hostnameOf(pod, options)}\n`,
    "/etc/hosts": hosts(pod, options),
    "/etc/resolv.conf": resolvConf(pod, options.dnsAddress),
    // Static programs of Go look here before they choose between hosts and DNS.
    "/etc/nsswitch.conf": "hosts: files dns\n",
  };
}

function hostnameOf(pod: Pod, { nodeName }: HostFilesOptions): string {
  return pod.spec.hostNetwork === true ? nodeName : podHostname(pod);
}

/** As upstream: a pod in the network of its node has the names of the cluster where it asks for them. */
function usesClusterNames({ spec }: Pod): boolean {
  const { dnsPolicy = "ClusterFirst", hostNetwork = false } = spec;
  return dnsPolicy === "ClusterFirstWithHostNet" || (dnsPolicy === "ClusterFirst" && !hostNetwork);
}

/** What a node resolves, cluster DNS resolves: no other server is reached. */
function resolvConf(pod: Pod, dnsAddress: string | undefined): string {
  const { namespace } = podIdentity(pod);
  const isOwn = pod.spec.dnsPolicy === "None";
  const servers = [
    ...(isOwn || dnsAddress === undefined ? [] : [dnsAddress]),
    ...(pod.spec.dnsConfig?.nameservers ?? []),
  ];
  const isFirst = usesClusterNames(pod);
  const own = !isFirst ? [] : [`${namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
  const searches = [...own, ...(pod.spec.dnsConfig?.searches ?? [])];
  const given = (pod.spec.dnsConfig?.options ?? []).flatMap(({ name, value }) =>
    name === undefined ? [] : [value === undefined ? name : `${name}:${value}`],
  );
  const options = mergeOptions(isFirst ? ["ndots:5"] : [], given);
  return [
    ...servers.map((server) => `nameserver ${server}`),
    ...(searches.length > 0 ? [`search ${searches.join(" ")}`] : []),
    ...(options.length > 0 ? [`options ${options.join(" ")}`] : []),
    "",
  ].join("\n");
}

/** The pod's own value of an option wins. */
function mergeOptions(defaults: readonly string[], given: readonly string[]): readonly string[] {
  const nameOf = (option: string): string => option.split(":")[0] ?? "";
  const names = new Set(given.map(nameOf));
  return [...defaults.filter((option) => !names.has(nameOf(option))), ...given];
}

/** Clients look for these words. */
const managed = "# Kubernetes-managed hosts file.";
const managedOnHost = "# Kubernetes-managed hosts file (host network).";

function hosts(pod: Pod, options: HostFilesOptions): string {
  const { podIP, dnsAddress, table } = options;
  const { namespace } = podIdentity(pod);
  const hostname = hostnameOf(pod, options);
  const aliases = (pod.spec.hostAliases ?? []).map(({ ip, hostnames }) => `${ip}\t${(hostnames ?? []).join("\t")}`);
  const subdomain = pod.spec.subdomain ?? "";
  const full = subdomain === "" ? [] : [`${hostname}.${subdomain}.${namespace}.svc.${clusterDomain}`];
  const lines = [
    pod.spec.hostNetwork === true ? managedOnHost : managed,
    "127.0.0.1\tlocalhost",
    `${podIP}\t${[...full, hostname].join("\t")}`,
    ...(aliases.length === 0 ? [] : ["", "# Entries added by HostAliases.", ...aliases]),
    ...(dnsAddress === undefined ? clusterHosts(table, namespace) : []),
  ];
  return `${lines.join("\n")}\n`;
}

/** Every Service and every named endpoint, in all the forms that the search list would allow. */
export function clusterHosts(table: ServiceTable, ownNamespace: string): string[] {
  return Iterator.from(table.services())
    .flatMap((service) => {
      const { namespace = "default" } = service.metadata;
      const forms = (name: string): string => {
        const short = name.slice(0, -`.svc.${clusterDomain}`.length);
        const own = namespace === ownNamespace ? [short.slice(0, -namespace.length - 1)] : [];
        return [name, `${short}.svc`, short, ...own].join("\t");
      };
      const endpoints = visibleEndpoints(table, service);
      const base = serviceName(service);
      const addresses = hasClusterIp(service)
        ? [service.spec.clusterIP ?? ""]
        : endpoints.map(({ address }) => address);
      const named = endpoints.filter(({ hostname }) => hostname !== undefined);
      return [
        ...addresses.map((address) => `${address}\t${forms(base)}`),
        ...named.map((endpoint) => `${endpoint.address}\t${forms(`${hostLabel(endpoint)}.${base}`)}`),
      ];
    })
    .toArray();
}
