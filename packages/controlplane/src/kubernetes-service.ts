/**
 * The Service `kubernetes`, whose endpoints are where the API server really listens. It comes back when it is
 * deleted, with its endpoints.
 */
import { Endpoints, EndpointSlice, Namespace, Service } from "@setpoint/api";
import { isNotFound, type KubeObject, type NamespacedName, type Transport } from "@setpoint/apimachinery";
import { objectsAtStart } from "@setpoint/apiserver";
import { createClient, type Client, type KindRef } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import { controller, startManager, type WatchDefinition } from "@setpoint/runtime";

const fieldManager = "kube-apiserver";
const key = { name: "kubernetes", namespace: "default" };

/** Where the API server listens for pods, and the range of the Services' addresses. */
export interface ApiServerAddress {
  readonly address: string;
  readonly port: number;
  readonly serviceCidr: string | undefined;
}

/** Resolves when the Service and its endpoints are there; they are kept until the result is disposed. */
export async function keepKubernetesService(
  transport: Transport,
  host: Host,
  where: ApiServerAddress,
): Promise<AsyncDisposable> {
  await publish(createClient(transport, host), where);
  const keeper = controller(Namespace, {
    name: "kubernetes-service",
    watches: [watchingOwn(Service), watchingOwn(EndpointSlice), watchingOwn(Endpoints)],
    async reconcile({ metadata }, { client }) {
      if (metadata.name === key.namespace) await publish(client, where);
    },
  });
  const manager = startManager({ transport, host, controllers: [keeper], name: fieldManager });
  await manager.ready;
  return { [Symbol.asyncDispose]: () => manager.stop() };
}

function watchingOwn<T extends KubeObject>(of: KindRef<T>): WatchDefinition<T> {
  const wakes = ({ metadata }: KubeObject): readonly NamespacedName[] =>
    metadata.namespace === key.namespace ? [{ name: key.namespace }] : [];
  return { of, wakes, fieldSelector: `metadata.name=${key.name}` };
}

async function publish(client: Client, { address, port, serviceCidr }: ApiServerAddress): Promise<void> {
  await ensureService(client, serviceCidr);
  const metadata = { ...key, labels: { "kubernetes.io/service-name": key.name } };
  const slice = EndpointSlice({
    ...metadata,
    addressType: "IPv4",
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ name: "https", port, protocol: "TCP" }],
  });
  const endpoints = Endpoints({
    ...metadata,
    subsets: [{ addresses: [{ ip: address }], ports: [{ name: "https", port, protocol: "TCP" }] }],
  });
  await client.apply(EndpointSlice, slice, { fieldManager, force: true });
  await client.apply(Endpoints, endpoints, { fieldManager, force: true });
}

/** As it was in the new cluster. A user's changes of it stay. */
async function ensureService(client: Client, serviceCidr: string | undefined): Promise<void> {
  if (await isThere(client)) return;
  const options = serviceCidr === undefined ? {} : { serviceCidr };
  const [service] = objectsAtStart(options).find(({ path }) => path === "/api/v1/services")?.objects ?? [];
  // Recorded from a kube-apiserver, so it has the shape of a Service.
  const object = { ...service, apiVersion: "v1", kind: "Service" } as unknown as Service;
  await client.create(Service, object, { fieldManager });
}

async function isThere(client: Client): Promise<boolean> {
  try {
    await client.get(Service, key);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
