import { Endpoints, EndpointSlice, Service } from "@setpoint/api";
import { controller, keyOf, watching, type ControllerDefinition } from "@setpoint/runtime";
import { isMirrored, mirroredSlices } from "./mirrored-slices.ts";

/**
 * Publishes the Endpoints of Services without a selector as EndpointSlices, which is what proxies and DNS
 * read.
 */
export const endpointMirroring: ControllerDefinition = controller(Endpoints, {
  name: "endpointslicemirroring",
  eventSource: "endpoint-slice-mirroring-controller",
  owns: [EndpointSlice],
  // Endpoints have no spec: all of them is what is mirrored.
  predicate: () => true,
  watches: [watching(Service, (service) => [keyOf(service)])],
  async reconcile(endpoints, { get, children }) {
    const service = get(Service, endpoints.metadata.name);
    const isMirror = service !== undefined && service.spec?.selector === undefined && isMirrored(endpoints);
    await children.apply(isMirror ? mirroredSlices(endpoints) : []);
  },
});
