/** Services: what an update means that leaves out what was allocated. */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import { ensureObject, type JsonObject, objectAt, objectsAt, stringAt } from "../json-fields.ts";
import type { KindStrategy } from "./kind-strategy.ts";
import { setServiceDefaults } from "./other-defaults.ts";
import { completeAddresses } from "./service-addresses.ts";
import { validateService } from "./service-validation.ts";

/** An update that leaves addresses and node ports out means the present ones (upstream patches them in). */
function prepareForUpdate(service: UnstructuredObject, old: UnstructuredObject): void {
  const spec = ensureObject(service as unknown as JsonObject, "spec");
  const before = objectAt(old, "spec");
  dropTypeFields(spec, before);
  if (spec["type"] === "ExternalName") {
    for (const field of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"])
      delete spec[field];
    return;
  }
  completeAddresses(spec, before);
  if (stringAt(before, "type") === "ExternalName") return;
  if (spec["type"] === "NodePort" || spec["type"] === "LoadBalancer") keepNodePorts(spec, before);
}

const balanced = ["LoadBalancer"];

/** Fields that belong to some types of Services alone, with these types. */
const typeFields: readonly (readonly [field: string, types: readonly string[]])[] = [
  ["allocateLoadBalancerNodePorts", balanced],
  ["externalTrafficPolicy", ["LoadBalancer", "NodePort"]],
  ["healthCheckNodePort", balanced],
  ["loadBalancerClass", balanced],
];

/** A client that changes the type need not remove the fields of the former one that it leaves as they are. */
function dropTypeFields(spec: JsonObject, before: JsonObject): void {
  for (const [field, types] of typeFields) {
    const isLeft = types.includes(stringAt(before, "type")) && !types.includes(stringAt(spec, "type"));
    if (isLeft && spec[field] === before[field]) delete spec[field];
  }
}

/** A client chooses how many ports there are. */
function keepNodePorts(spec: JsonObject, before: JsonObject): void {
  const keyOf = (port: JsonObject): string => JSON.stringify([port["port"], port["protocol"]]);
  // The first of equal ones counts.
  const known = new Map(
    objectsAt(before, "ports")
      .toReversed()
      .map((port) => [keyOf(port), port["nodePort"]]),
  );
  for (const port of objectsAt(spec, "ports")) {
    const nodePort = port["nodePort"] === undefined ? known.get(keyOf(port)) : undefined;
    if (nodePort !== undefined) port["nodePort"] = nodePort;
  }
}

export const serviceStrategy: KindStrategy = {
  nameRule: "label",
  defaults: setServiceDefaults,
  prepareForCreate: (service) => completeAddresses(ensureObject(service as unknown as JsonObject, "spec"), undefined),
  prepareForUpdate: (service, old, context) => {
    if (context.subresource === "") prepareForUpdate(service, old);
  },
  validate: validateService,
};
