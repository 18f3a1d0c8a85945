import { Endpoints, Service } from "@setpoint/api";
import { controller, keyOf, watching, type ControllerDefinition } from "@setpoint/runtime";
import { managedByLabel, managedByUs } from "./endpoints-object.ts";

/**
 * Deletes the Endpoints that `endpoints` wrote for a Service that is gone: as upstream's they name no owner,
 * so the garbage collector leaves them. Those that a user wrote stay.
 */
export const leftoverEndpoints: ControllerDefinition = controller(Endpoints, {
  name: "leftover-endpoints",
  watches: [watching(Service, (service) => [keyOf(service)])],
  async reconcile(endpoints, context) {
    if (endpoints.metadata.labels?.[managedByLabel] !== managedByUs) return;
    if (context.get(Service, endpoints.metadata.name) === undefined) await context.delete(endpoints);
  },
});
