import { Endpoints, type Pod, type Service } from "@setpoint/api";
import { conditionsOf, placeOf, podGroups } from "./pod-endpoints.ts";

/** The label of Endpoints that the controller of Services writes. */
export const managedByLabel = "endpoints.kubernetes.io/managed-by";
export const managedByUs = "endpoint-controller";

/** As upstream. Clients that need all endpoints of a larger Service read its EndpointSlices. */
const addressesMax = 1_000;

/** The one object that older clients read, with the ready addresses first when there are too many. */
export function endpointsOf(service: Service, pods: readonly Pod[]): Endpoints {
  const { name = "", namespace = "" } = service.metadata;
  const isServing = (pod: Pod): boolean => conditionsOf(service, pod).ready;
  const shown =
    pods.length <= addressesMax
      ? pods
      : [...pods.filter(isServing), ...pods.filter((pod) => !isServing(pod))].slice(0, addressesMax);
  const truncated = { annotations: { "endpoints.kubernetes.io/over-capacity": "truncated" } };
  return Endpoints({
    name,
    namespace,
    labels: { ...service.metadata.labels, [managedByLabel]: managedByUs },
    ...(shown.length < pods.length ? truncated : {}),
    subsets: pods.length === 0 ? [] : podGroups(service, shown).map((group) => subsetOf(service, group, isServing)),
  });
}

type Subset = NonNullable<Endpoints["subsets"]>[number];

function subsetOf(
  service: Service,
  { ports, pods }: ReturnType<typeof podGroups>[number],
  isServing: (pod: Pod) => boolean,
): Subset {
  const addressesOf = (some: readonly Pod[]) =>
    some.map((pod) => ({ ip: pod.status?.podIP ?? "", ...placeOf(service, pod) }));
  const ready = addressesOf(pods.filter(isServing));
  const notReady = addressesOf(pods.filter((pod) => !isServing(pod)));
  return {
    ...(ready.length > 0 ? { addresses: ready } : {}),
    ...(notReady.length > 0 ? { notReadyAddresses: notReady } : {}),
    ports,
  };
}
