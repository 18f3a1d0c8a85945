/** Services: ports, and cluster IPs that are immutable once allocated. */
import type { FieldError, UnstructuredObject } from "@setpoint/apimachinery";
import {
  duplicate,
  duplicates,
  forbidden,
  invalidValue,
  isPort,
  notSupported,
  portProblem,
  required,
} from "../field-errors.ts";
import { ensureObject, type JsonObject, keepField, objectAt, objectsAt, stringAt } from "../json-fields.ts";
import type { KindStrategy } from "./kind-strategy.ts";
import { setServiceDefaults } from "./other-defaults.ts";

function portErrors(service: UnstructuredObject): readonly FieldError[] {
  const ports = objectsAt(service, "spec", "ports");
  const errors: FieldError[] = [];
  ports.forEach((port, index) => {
    const at = `spec.ports[${index}]`;
    if (!isPort(port["port"])) errors.push(invalidValue(`${at}.port`, port["port"] ?? 0, portProblem));
    if (ports.length > 1 && stringAt(port, "name") === "") errors.push(required(`${at}.name`));
    const target = port["targetPort"];
    if (typeof target === "number" && !isPort(target))
      errors.push(invalidValue(`${at}.targetPort`, target, portProblem));
  });
  errors.push(
    ...duplicates(
      (index) => `spec.ports[${index}].name`,
      ports.map((port) => stringAt(port, "name")),
    ),
  );
  return [...errors, ...repeatedPorts(ports)];
}

/** With two equal ports it is undefined which one a connection uses. */
function repeatedPorts(ports: readonly JsonObject[]): readonly FieldError[] {
  const seen = new Set<string>();
  return ports.flatMap(({ port, protocol = "TCP" }, index) => {
    const key = JSON.stringify({ protocol, port });
    if (seen.has(key)) return [duplicate(`spec.ports[${index}]`, { protocol, port })];
    seen.add(key);
    return [];
  });
}

/** An ExternalName Service is only a name of another host, so no allocator assigns its address. */
function externalErrors(spec: JsonObject): readonly FieldError[] {
  const { clusterIP = "", clusterIPs } = spec;
  const isThere = clusterIP !== "" || (Array.isArray(clusterIPs) && clusterIPs.length > 0);
  const errors = isThere ? [forbidden("spec.clusterIPs", "may not be set for ExternalName services")] : [];
  return stringAt(spec, "externalName") === "" ? [...errors, required("spec.externalName")] : errors;
}

const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const affinities = ["ClientIP", "None"];

function validate(service: UnstructuredObject, old: UnstructuredObject | undefined): readonly FieldError[] {
  const errors = [...portErrors(service)];
  const spec = objectAt(service, "spec");
  const type = stringAt(spec, "type");
  if (type !== "ExternalName" && objectsAt(spec, "ports").length === 0 && spec["clusterIP"] !== "None")
    errors.push(required("spec.ports"));
  if (type !== "" && !types.includes(type)) errors.push(notSupported("spec.type", type, types));
  const affinity = stringAt(spec, "sessionAffinity");
  if (affinity !== "" && !affinities.includes(affinity))
    errors.push(notSupported("spec.sessionAffinity", affinity, affinities));
  if (type === "ExternalName") errors.push(...externalErrors(spec));
  const before = stringAt(old, "spec", "clusterIP");
  const wasExternal = stringAt(old, "spec", "type") === "ExternalName";
  if (old !== undefined && !wasExternal && type !== "ExternalName" && before !== "" && spec["clusterIP"] !== before) {
    errors.push(invalidValue("spec.clusterIPs[0]", [spec["clusterIP"]], "may not change once set"));
  }
  return errors;
}

/** An update that leaves addresses and node ports out means the present ones (upstream patches them in). */
function prepareForUpdate(service: UnstructuredObject, old: UnstructuredObject): void {
  const spec = ensureObject(service as unknown as JsonObject, "spec");
  const before = objectAt(old, "spec");
  if (spec["type"] === "ExternalName") {
    for (const field of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"])
      delete spec[field];
    return;
  }
  if (stringAt(before, "type") === "ExternalName") return;
  for (const field of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"])
    if (spec[field] === undefined) keepField(spec, before, field);
  if (spec["type"] === "NodePort" || spec["type"] === "LoadBalancer") keepNodePorts(spec, before);
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
  prepareForUpdate: (service, old, context) => {
    if (context.subresource === "") prepareForUpdate(service, old);
  },
  validate,
};
