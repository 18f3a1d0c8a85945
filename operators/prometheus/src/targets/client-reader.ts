/** Reads candidates for targets from an API server: few objects of a list, and nothing is cached. */
import type { ReconcileContext } from "setpoint";
import { EndpointSlice, Ingress, Pod, Service } from "setpoint/kinds";
import type { DiscoveryReader, Wanted } from "./discovery-reader.ts";

/** Enough to name what is wrong; a list of more is cut. */
const objectsMax = 200;
const serviceLabel = "kubernetes.io/service-name";

export type ReadingClient = Pick<ReconcileContext["client"], "list" | "create">;

export function clientReader(client: ReadingClient, signal: AbortSignal): DiscoveryReader {
  const options = (wanted: Wanted): Wanted & { readonly limit: number; readonly signal: AbortSignal } => ({
    ...wanted,
    ...{ limit: objectsMax, signal },
  });
  return {
    services: async (wanted) => (await client.list(Service, options(wanted))).items,
    pods: async (wanted) => (await client.list(Pod, options(wanted))).items,
    ingresses: async (wanted) => (await client.list(Ingress, options(wanted))).items,
    slices: async (namespace, service) =>
      (await client.list(EndpointSlice, options({ namespace, labelSelector: `${serviceLabel}=${service}` }))).items,
  };
}
