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
}

export function podHostFiles(pod: Pod, options: HostFilesOptions): Record<string, string> {
  return {
    "/etc/hostname": `${podHostname(pod)}\n`,
    "/etc/hosts": hosts(pod, options),
    "/etc/resolv.conf": resolvConf(pod, options.dnsAddress),
    // Static programs of Go look here before they choose between hosts and DNS.
    "/etc/nsswitch.conf": "hosts: files dns\n",
  };
}

function resolvConf(pod: Pod, dnsAddress: string | undefined): string {
  const { namespace } = podIdentity(pod);
  const isOwn = pod.spec.dnsPolicy === "None";
  const servers = [
    ...(isOwn || dnsAddress === undefined ? [] : [dnsAddress]),
    ...(pod.spec.dnsConfig?.nameservers ?? []),
  ];
  const own = isOwn ? [] : [`${namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
  const searches = [...own, ...(pod.spec.dnsConfig?.searches ?? [])];
  const given = (pod.spec.dnsConfig?.options ?? []).map(({ name, value }) =>
    value === undefined ? name : `${name}:${value}`,
  );
  const options = [...(isOwn ? [] : ["ndots:5"]), ...given];
  return [
    ...servers.map((server) => `nameserver ${server}`),
    ...(searches.length > 0 ? [`search ${searches.join(" ")}`] : []),
    ...(options.length > 0 ? [`options ${options.join(" ")}`] : []),
    "",
  ].join("\n");
}

function hosts(pod: Pod, { podIP, dnsAddress, table }: HostFilesOptions): string {
  const { namespace } = podIdentity(pod);
  const hostname = podHostname(pod);
  const subdomain = pod.spec.subdomain ?? "";
  const full = subdomain === "" ? [] : [`${hostname}.${subdomain}.${namespace}.svc.${clusterDomain}`];
  const lines = [
    "127.0.0.1\tlocalhost",
    `${podIP}\t${[...full, hostname].join("\t")}`,
    ...(pod.spec.hostAliases ?? []).map(({ ip, hostnames }) => `${ip}\t${(hostnames ?? []).join("\t")}`),
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
