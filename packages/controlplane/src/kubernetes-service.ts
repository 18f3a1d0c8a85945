/** Publishes where the API server really listens as the endpoints of the Service `kubernetes`. */
import { Endpoints, EndpointSlice } from "@setpoint/api";
import type { Transport } from "@setpoint/apimachinery";
import { createClient } from "@setpoint/client";
import type { Host } from "@setpoint/host";

const fieldManager = "kube-apiserver";

export async function publishApiServer(
  transport: Transport,
  host: Host,
  { address, port }: { readonly address: string; readonly port: number },
): Promise<void> {
  const client = createClient(transport, host);
  const metadata = { name: "kubernetes", namespace: "default", labels: { "kubernetes.io/service-name": "kubernetes" } };
  const slice = EndpointSlice({
    ...metadata,
    addressType: "IPv4",
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ name: "https", port, protocol: "TCP" }],
  });
  const endpoints = Endpoints({
    ...metadata,
    // It has a slice of its own.
    labels: { ...metadata.labels, "endpointslice.kubernetes.io/skip-mirror": "true" },
    subsets: [{ addresses: [{ ip: address }], ports: [{ name: "https", port, protocol: "TCP" }] }],
  });
  await client.apply(EndpointSlice, slice, { fieldManager, force: true });
  await client.apply(Endpoints, endpoints, { fieldManager, force: true });
}
