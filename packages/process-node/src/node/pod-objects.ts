/**
 * What a container gets from the cluster when it starts: data of ConfigMaps and Secrets, and addresses of
 * Services.
 */
import type { ConfigMap, Pod, Secret } from "@setpoint/api";
import { backends, hasClusterIp, type ServiceTable } from "../network/service-table.ts";
import type { ServiceProxy } from "../network/service-proxy.ts";
import type { PullSecret } from "../images/registry/pull-credentials.ts";
import type { PodObjects } from "../workers/pod-parts.ts";
import type { DataReader, ServiceAddress } from "../pod/environment.ts";
import { podIdentity } from "../cluster/pod.ts";
import { decodeData } from "../volumes/volume-content.ts";
import type { ReferencedObjects } from "./referenced-objects.ts";

export function createPodObjects(
  referenced: ReferencedObjects,
  table: ServiceTable,
  proxy: Pick<ServiceProxy, "isForbidden">,
): PodObjects {
  return {
    async dataReader(pod) {
      const { namespace, uid } = podIdentity(pod);
      const data = new Map<string, Readonly<Record<string, string>>>();
      for (const { kind, name } of environmentReferences(pod)) {
        const object = await referenced.find(uid, kind, namespace, name);
        if (object === undefined) continue;
        data.set(`${kind}/${name}`, textsOf(kind, object));
      }
      const read: DataReader = (kind, name) => data.get(`${kind}/${name}`);
      return read;
    },
    services: (pod) => serviceAddresses(table, proxy, pod),
    async pullSecrets(pod) {
      const { namespace, uid } = podIdentity(pod);
      const names = new Set((pod.spec.imagePullSecrets ?? []).map(({ name = "" }) => name));
      names.delete("");
      const found: PullSecret[] = [];
      const missing: string[] = [];
      for (const name of names) {
        const secret = await referenced.find(uid, "Secret", namespace, name);
        if (secret === undefined) missing.push(name);
        else found.push({ data: textsOf("Secret", secret) });
      }
      return { found, missing };
    },
  };
}

function textsOf(kind: "ConfigMap" | "Secret", object: ConfigMap | Secret): Readonly<Record<string, string>> {
  const entries = [...decodeData(kind, object)].map(([key, bytes]) => [key, Buffer.from(bytes).toString("utf8")]);
  return Object.fromEntries(entries) as Record<string, string>;
}

/** The ConfigMaps and Secrets that the pod's variables come from. */
function environmentReferences(pod: Pod): { readonly kind: "ConfigMap" | "Secret"; readonly name: string }[] {
  return [...(pod.spec.initContainers ?? []), ...pod.spec.containers].flatMap(({ env = [], envFrom = [] }) => {
    const maps = [
      ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef),
      ...envFrom.map(({ configMapRef }) => configMapRef),
    ];
    const secrets = [
      ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef),
      ...envFrom.map(({ secretRef }) => secretRef),
    ];
    const named = (kind: "ConfigMap" | "Secret", references: readonly ({ readonly name?: string } | undefined)[]) =>
      references.flatMap((reference) => (reference === undefined ? [] : [{ kind, name: reference.name ?? "" }]));
    return [...named("ConfigMap", maps), ...named("Secret", secrets)];
  });
}

/** `kubernetes` always; those of the pod's own namespace unless it asked not to. */
function serviceAddresses(table: ServiceTable, proxy: Pick<ServiceProxy, "isForbidden">, pod: Pod): ServiceAddress[] {
  const { namespace } = podIdentity(pod);
  return [...table.services()].flatMap((service) => {
    const { name = "", namespace: at } = service.metadata;
    const isApi = at === "default" && name === "kubernetes";
    const isLinked = at === namespace && pod.spec.enableServiceLinks !== false;
    if (!hasClusterIp(service) || !(isApi || isLinked)) return [];
    const [port] = service.spec.ports ?? [];
    const clusterIP = service.spec.clusterIP ?? "";
    // Programs find the API by these variables. If this node cannot serve its Service, they name the API
    // server itself.
    const direct =
      isApi && port !== undefined && proxy.isForbidden(clusterIP, port.port)
        ? backends(table, service, port)[0]
        : undefined;
    if (direct !== undefined && port !== undefined)
      return [{ name, clusterIP: direct.host, ports: [{ ...port, port: direct.port }] }];
    return [{ name, clusterIP, ports: service.spec.ports ?? [] }];
  });
}
