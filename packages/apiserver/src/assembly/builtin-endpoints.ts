/** The subresources of built-in kinds that run an action instead of storing an object. */
import type { EndpointTable } from "../registry/endpoint.ts";
import { bindPod } from "../write/bind-pod.ts";
import { evictPod } from "../write/evict-pod.ts";
import type { EndpointServer } from "../write/endpoint-server.ts";

/** Pod binding and eviction. */
export function builtinEndpoints(server: EndpointServer): EndpointTable {
  return new Map([
    ["POST v1/pods/binding", bindPod(server)],
    ["POST v1/bindings", bindPod(server)],
    ["POST v1/pods/eviction", evictPod(server)],
  ]);
}
