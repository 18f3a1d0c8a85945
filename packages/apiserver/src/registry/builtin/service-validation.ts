/** Validation of Services, in the words and the order of upstream. */
import { isIP } from "node:net";
import {
  type FieldError,
  type UnstructuredObject,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateLabelValue,
  validateQualifiedName,
} from "@setpoint/apimachinery";
import { duplicate, forbidden, invalidValue, isPort, notSupported, portProblem, required } from "../field-errors.ts";
import { type JsonObject, numberAt, objectAt, objectsAt, stringAt, textOf, valueAt } from "../json-fields.ts";
import { addressErrors, changedAddressErrors, externalAddressErrors, isHeadless } from "./service-addresses.ts";

const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const affinities = ["ClientIP", "None"];
const protocols = ["SCTP", "TCP", "UDP"];
const trafficPolicies = ["Cluster", "Local"];
const distributions = ["PreferClose", "PreferSameZone", "PreferSameNode"];
const affinitySecondsMax = 86_400;
const cidrProblem = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
const onlyLoadBalancers = "may only be used when `type` is 'LoadBalancer'";

export function validateService(
  service: UnstructuredObject,
  old: UnstructuredObject | undefined,
): readonly FieldError[] {
  const spec = objectAt(service, "spec");
  const before = objectAt(old, "spec");
  return [
    ...(old === undefined ? [] : [...changedAddressErrors(spec, before), ...changedClassErrors(spec, before)]),
    ...typeErrors(spec),
    ...objectsAt(spec, "ports").flatMap((port, index, ports) => portErrors(port, index, ports)),
    ...selectorErrors(objectAt(spec, "selector")),
    ...affinityErrors(spec),
    ...(spec["type"] === "ExternalName" ? [] : addressErrors(spec)),
    ...textsAt(spec, "externalIPs").flatMap((ip, index) => externalAddressErrors(ip, `spec.externalIPs[${index}]`)),
    ...supported(spec, "type", types),
    ...nodePortErrors(spec),
    ...repeatedPorts(objectsAt(spec, "ports")),
    ...loadBalancerErrors(spec),
    ...trafficErrors(spec),
  ];
}

function textsAt(spec: JsonObject, field: string): readonly string[] {
  const value = spec[field];
  return Array.isArray(value) ? value.map(textOf) : [];
}

/** An absent value is filled by the defaults. */
function supported(spec: JsonObject, field: string, values: readonly string[]): readonly FieldError[] {
  const value = spec[field];
  return value === undefined || values.includes(textOf(value)) ? [] : [notSupported(`spec.${field}`, value, values)];
}

function typeErrors(spec: JsonObject): readonly FieldError[] {
  const type = stringAt(spec, "type");
  const errors: FieldError[] = [];
  if (objectsAt(spec, "ports").length === 0 && !isHeadless(spec) && type !== "ExternalName")
    errors.push(required("spec.ports"));
  if ((type === "LoadBalancer" || type === "NodePort") && isHeadless(spec))
    errors.push(invalidValue("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${type} services`));
  return type === "ExternalName" ? [...errors, ...externalErrors(spec)] : errors;
}

/** An ExternalName Service is only a name of another host, so no allocator assigns its address. */
function externalErrors(spec: JsonObject): readonly FieldError[] {
  const detail = "may not be set for ExternalName services";
  const hasAddress = stringAt(spec, "clusterIP") !== "" || textsAt(spec, "clusterIPs").length > 0;
  const errors: FieldError[] = hasAddress ? [forbidden("spec.clusterIPs", detail)] : [];
  if (textsAt(spec, "ipFamilies").length > 0) errors.push(forbidden("spec.ipFamilies", detail));
  if (spec["ipFamilyPolicy"] !== undefined) errors.push(forbidden("spec.ipFamilyPolicy", detail));
  const name = stringAt(spec, "externalName").replace(/\.$/, "");
  if (name === "") return [...errors, required("spec.externalName")];
  return [...errors, ...validateDns1123Subdomain(name).map((fault) => invalidValue("spec.externalName", name, fault))];
}

function portErrors(port: JsonObject, index: number, ports: readonly JsonObject[]): readonly FieldError[] {
  const at = `spec.ports[${index}]`;
  const protocol = textOf(port["protocol"] ?? "TCP");
  const appProtocol = port["appProtocol"];
  return [
    ...portNameErrors(port, index, ports, `${at}.name`),
    ...(isPort(port["port"]) ? [] : [invalidValue(`${at}.port`, port["port"] ?? 0, portProblem)]),
    ...(protocols.includes(protocol) ? [] : [notSupported(`${at}.protocol`, protocol, protocols)]),
    ...targetErrors(port["targetPort"], `${at}.targetPort`),
    ...(appProtocol === undefined
      ? []
      : validateQualifiedName(textOf(appProtocol)).map((fault) =>
          invalidValue(`${at}.appProtocol`, appProtocol, fault),
        )),
  ];
}

function portNameErrors(
  port: JsonObject,
  index: number,
  ports: readonly JsonObject[],
  at: string,
): readonly FieldError[] {
  const name = stringAt(port, "name");
  if (name === "") return ports.length > 1 ? [required(at)] : [];
  const isTaken = ports.findIndex((each) => each["name"] === name) < index;
  const faults = validateDns1123Label(name).map((fault) => invalidValue(at, name, fault));
  return isTaken ? [...faults, duplicate(at, name)] : faults;
}

/** A port's number, or the name of a container's port. */
function targetErrors(target: unknown, at: string): readonly FieldError[] {
  if (typeof target === "string") return portNameFaults(target).map((fault) => invalidValue(at, target, fault));
  return target === undefined || isPort(target) ? [] : [invalidValue(at, target, portProblem)];
}

function portNameFaults(name: string): readonly string[] {
  const rules: readonly (readonly [isBroken: boolean, fault: string])[] = [
    [name.length > 15, "must be no more than 15 characters"],
    [!/^[-a-z0-9]+$/.test(name), "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"],
    [!/[a-z]/.test(name), "must contain at least one letter (a-z)"],
    [name.includes("--"), "must not contain consecutive hyphens"],
    [/^-|-$/.test(name), "must not begin or end with a hyphen"],
  ];
  return rules.filter(([isBroken]) => isBroken).map(([, fault]) => fault);
}

function selectorErrors(selector: JsonObject): readonly FieldError[] {
  const at = "spec.selector";
  return Object.entries(selector).flatMap(([key, value]) => [
    ...validateQualifiedName(key).map((fault) => invalidValue(at, key, fault)),
    ...validateLabelValue(textOf(value)).map((fault) => invalidValue(at, value, fault)),
  ]);
}

function affinityErrors(spec: JsonObject): readonly FieldError[] {
  const unknown = supported(spec, "sessionAffinity", affinities);
  if (spec["sessionAffinity"] !== "ClientIP") return unknown;
  const at = "spec.sessionAffinityConfig.clientIP.timeoutSeconds";
  const seconds = numberAt(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds");
  if (seconds === undefined || (seconds > 0 && seconds <= affinitySecondsMax)) return unknown;
  return [invalidValue(at, seconds, `must be greater than 0 and less than ${affinitySecondsMax}`)];
}

function nodePortErrors(spec: JsonObject): readonly FieldError[] {
  const chosen = objectsAt(spec, "ports")
    .map((port, index) => ({ port, at: `spec.ports[${index}].nodePort`, nodePort: port["nodePort"] ?? 0 }))
    .filter(({ nodePort }) => nodePort !== 0);
  const seen = new Set<string>();
  const misplaced = spec["type"] === "ClusterIP" ? chosen : [];
  return [
    ...misplaced.map(({ at }) => forbidden(at, "may not be used when `type` is 'ClusterIP'")),
    ...chosen.flatMap(({ port, at, nodePort }) => {
      const key = `${textOf(port["protocol"])} ${textOf(nodePort)}`;
      const isRepeated = seen.has(key);
      seen.add(key);
      return isRepeated ? [duplicate(at, nodePort)] : [];
    }),
  ];
}

/** With two equal ports it is undefined which one a connection uses. */
function repeatedPorts(ports: readonly JsonObject[]): readonly FieldError[] {
  const seen = new Set<string>();
  return ports.flatMap(({ port, protocol = "TCP" }, index) => {
    const key = JSON.stringify([protocol, port]);
    if (seen.has(key)) {
      const shown = { Name: "", Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
      return [duplicate(`spec.ports[${index}]`, shown)];
    }
    seen.add(key);
    return [];
  });
}

function loadBalancerErrors(spec: JsonObject): readonly FieldError[] {
  const isLoadBalancer = spec["type"] === "LoadBalancer";
  const ranges = textsAt(spec, "loadBalancerSourceRanges");
  const at = "spec.LoadBalancerSourceRanges";
  const loadBalancerClass = spec["loadBalancerClass"];
  const errors: FieldError[] = ranges.length > 0 && !isLoadBalancer ? [forbidden(at, onlyLoadBalancers)] : [];
  ranges.forEach((range, index) => {
    if (!isBlock(range.trim())) errors.push(invalidValue(`${at}[${index}]`, range.trim(), cidrProblem));
  });
  if (spec["allocateLoadBalancerNodePorts"] !== undefined && !isLoadBalancer)
    errors.push(forbidden("spec.allocateLoadBalancerNodePorts", onlyLoadBalancers));
  if (loadBalancerClass === undefined) return errors;
  const field = "spec.loadBalancerClass";
  return isLoadBalancer
    ? [
        ...errors,
        ...validateQualifiedName(textOf(loadBalancerClass)).map((fault) =>
          invalidValue(field, loadBalancerClass, fault),
        ),
      ]
    : [...errors, forbidden(field, onlyLoadBalancers)];
}

function changedClassErrors(spec: JsonObject, before: JsonObject): readonly FieldError[] {
  if (spec["type"] !== "LoadBalancer" || before["type"] !== "LoadBalancer") return [];
  if (spec["loadBalancerClass"] === before["loadBalancerClass"]) return [];
  return [invalidValue("spec.loadBalancerClass", spec["loadBalancerClass"] ?? null, "may not change once set")];
}

function isBlock(cidr: string): boolean {
  const [address = "", bits = "", ...rest] = cidr.split("/");
  const version = isIP(address);
  return rest.length === 0 && version !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128);
}

function trafficErrors(spec: JsonObject): readonly FieldError[] {
  const at = "spec.externalTrafficPolicy";
  const policy = spec["externalTrafficPolicy"];
  const { type } = spec;
  const hasExternalIps = type === "ClusterIP" && textsAt(spec, "externalIPs").length > 0;
  const isReachable = type === "LoadBalancer" || type === "NodePort" || hasExternalIps;
  const external =
    policy !== undefined && !isReachable
      ? [invalidValue(at, policy, "may only be set for externally-accessible services")]
      : supported(spec, "externalTrafficPolicy", trafficPolicies);
  const needsHealthCheck = type === "LoadBalancer" && policy === "Local";
  const healthPort = valueAt(spec, "healthCheckNodePort") ?? 0;
  const misplaced = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
  return [
    ...external,
    ...(healthPort === 0 || needsHealthCheck ? [] : [invalidValue("spec.healthCheckNodePort", healthPort, misplaced)]),
    ...supported(spec, "internalTrafficPolicy", trafficPolicies),
    ...supported(spec, "trafficDistribution", distributions),
  ];
}
