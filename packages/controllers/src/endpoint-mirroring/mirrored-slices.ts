/** The EndpointSlices that say what a user's Endpoints say; pure. */
import { type Endpoints, EndpointSlice } from "@setpoint/api";
import { type Endpoint, portsKey, type SlicePorts } from "../endpoints/slice-plan.ts";

/** As upstream's `--mirroring-max-endpoints-per-subset`. */
const endpointsMax = 1_000;
const leaderAnnotation = "control-plane.alpha.kubernetes.io/leader";
const skipLabel = "endpointslice.kubernetes.io/skip-mirror";
/** Annotations that describe the writing of the Endpoints, not the Endpoints. */
const ownAnnotations: ReadonlySet<string> = new Set([
  "endpoints.kubernetes.io/last-change-trigger-time",
  "kubectl.kubernetes.io/last-applied-configuration",
]);

type Subset = NonNullable<Endpoints["subsets"]>[number];
type Address = NonNullable<Subset["addresses"]>[number];
type AddressType = "IPv4" | "IPv6";

/** Whether these Endpoints are addresses of a Service, and their author wants slices of them. */
export function isMirrored({ metadata }: Endpoints): boolean {
  return metadata.labels?.[skipLabel] !== "true" && metadata.annotations?.[leaderAnnotation] === undefined;
}

/** One slice for the addresses of each family with the same ports. */
export function mirroredSlices(endpoints: Endpoints): readonly EndpointSlice[] {
  const groups = new Map<
    string,
    { readonly ports: SlicePorts; readonly type: AddressType; readonly found: Endpoint[] }
  >();
  for (const subset of endpoints.subsets ?? []) {
    const ports = (subset.ports ?? []).map(({ name = "", protocol = "TCP", ...port }) => ({ ...port, name, protocol }));
    for (const endpoint of endpointsOf(subset)) {
      const type = familyOf(endpoint.addresses[0] ?? "");
      const key = `${type} ${portsKey(ports)}`;
      const group = groups.get(key) ?? { ports, type, found: [] };
      if (group.found.length < endpointsMax) group.found.push(endpoint);
      groups.set(key, group);
    }
  }
  return [...groups.values()].map((group, i) => sliceOf(endpoints, group, i + 1));
}

function sliceOf(
  { metadata }: Endpoints,
  {
    ports,
    type,
    found,
  }: { readonly ports: SlicePorts; readonly type: AddressType; readonly found: readonly Endpoint[] },
  number: number,
): EndpointSlice {
  const { name = "", namespace = "", labels } = metadata;
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => !ownAnnotations.has(key));
  return EndpointSlice({
    name: `${name}-mirrored${number === 1 ? "" : `-${number}`}`,
    namespace,
    labels: {
      ...labels,
      "kubernetes.io/service-name": name,
      "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
    },
    annotations: Object.fromEntries(annotations),
    addressType: type,
    endpoints: found,
    ports,
  });
}

/** Each address once; a ready one counts before one that is not. */
function endpointsOf({ addresses = [], notReadyAddresses = [] }: Subset): readonly Endpoint[] {
  const all = [
    ...addresses.map((address) => endpointOf(address, true)),
    ...notReadyAddresses.map((address) => endpointOf(address, false)),
  ];
  const byAddress = new Map(all.toReversed().map((each) => [each.addresses[0], each]));
  return all.filter((each) => byAddress.get(each.addresses[0]) === each);
}

function endpointOf({ ip, hostname, nodeName, targetRef }: Address, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(targetRef === undefined ? {} : { targetRef }),
  };
}

function familyOf(address: string): AddressType {
  return address.includes(":") ? "IPv6" : "IPv4";
}
