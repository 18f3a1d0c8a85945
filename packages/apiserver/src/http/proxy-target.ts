/** From the name in a proxy's path to the address and the port that it stands for. */
import { ApiError, failure, type UnstructuredObject } from "@setpoint/apimachinery";
import { numberAt, objectsAt, stringAt, valueAt } from "../registry/json-fields.ts";
import type { ObjectReader } from "../registry/object-reader.ts";
import type { RequestAttributes } from "../request/request-attributes.ts";
import { badRequest } from "../response/api-errors.ts";
import { agentAddress, type AgentHost } from "./node-address.ts";

export interface ProxyTarget {
  readonly address: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** The agent of a node, which is called with a certificate. */
  readonly isAgent: boolean;
}

interface Asked {
  readonly scheme: string;
  readonly name: string;
  /** A number, or the name of a port; empty when there is none. */
  readonly port: string;
}

export interface TargetSources {
  readonly reader: ObjectReader;
  readonly hostOf?: AgentHost | undefined;
}

/** Throws upstream's ApiError when the object, or the port of it, is not there. */
export function proxyTarget(sources: TargetSources, attributes: RequestAttributes): ProxyTarget {
  const { resource, namespace, name } = attributes;
  const asked = splitName(name);
  if (asked === undefined) throw badRequest(`invalid ${resource.slice(0, -1)} request ${JSON.stringify(name)}`);
  const found = sources.reader.get("", resource, namespace, asked.name);
  if (found === undefined) {
    const details = { name: asked.name, kind: resource };
    throw new ApiError(failure(404, "NotFound", `${resource} ${JSON.stringify(asked.name)} not found`, details));
  }
  if (resource === "nodes") return nodeTarget(sources, found, asked);
  return resource === "pods" ? podTarget(found, asked) : serviceTarget(sources.reader, found, asked);
}

/** `name`, `name:port`, or `scheme:name:port` with an empty port for the first one. */
function splitName(text: string): Asked | undefined {
  const parts = text.split(":");
  const [first = "", second = "", third = ""] = parts;
  if (parts.length === 1) return first === "" ? undefined : { scheme: "", name: first, port: "" };
  if (parts.length === 2) return first === "" || second === "" ? undefined : { scheme: "", name: first, port: second };
  if (parts.length !== 3 || second === "" || !["", "http", "https"].includes(first)) return undefined;
  return { scheme: first, name: second, port: third };
}

function podTarget(pod: UnstructuredObject, { scheme, port }: Asked): ProxyTarget {
  const address = stringAt(pod, "status", "podIP");
  if (address === "") throw badRequest("address not allowed");
  const ports = objectsAt(pod, "spec", "containers").flatMap((container) => objectsAt(container, "ports"));
  const fallback = ports.length === 0 ? undefined : numberAt(ports[0], "containerPort");
  const number = port === "" ? (fallback ?? defaultPort(scheme)) : portNumber(port);
  return { address, port: number, isSecure: scheme === "https", isAgent: false };
}

function defaultPort(scheme: string): number {
  return scheme === "https" ? 443 : 80;
}

function portNumber(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0 && number < 65_536) return number;
  throw badRequest(`invalid port ${JSON.stringify(text)}: expected a number from 1 to 65535`);
}

let turns = 0;

/** A ready pod of the Service, each in turn. */
function serviceTarget(reader: ObjectReader, service: UnstructuredObject, { scheme, name, port }: Asked): ProxyTarget {
  const wanted = servicePortName(service, port);
  const slices = reader
    .list("discovery.k8s.io", "endpointslices", service.metadata.namespace ?? "")
    .filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === service.metadata.name);
  const ready = slices.flatMap((slice) => readyEndpoints(slice, wanted));
  const found = ready[turns++ % ready.length];
  if (found !== undefined) return { ...found, isSecure: scheme === "https", isAgent: false };
  throw unavailable(`no endpoints available for service ${JSON.stringify(name)}`);
}

function servicePortName(service: UnstructuredObject, port: string): string {
  if (!/^\d+$/.test(port)) return port;
  const found = objectsAt(service, "spec", "ports").find((each) => each["port"] === Number(port));
  if (found !== undefined) return stringAt(found, "name");
  throw unavailable(`no service port ${port} found for service ${JSON.stringify(service.metadata.name)}`);
}

function readyEndpoints(slice: UnstructuredObject, portName: string): Pick<ProxyTarget, "address" | "port">[] {
  const found = objectsAt(slice, "ports").find((each) => stringAt(each, "name") === portName);
  const port = found === undefined ? undefined : numberAt(found, "port");
  if (port === undefined) return [];
  return objectsAt(slice, "endpoints").flatMap((endpoint) => {
    const [address]: readonly unknown[] = Array.isArray(endpoint["addresses"]) ? endpoint["addresses"] : [];
    const isReady = valueAt(endpoint, "conditions", "ready") !== false;
    return isReady && typeof address === "string" ? [{ address, port }] : [];
  });
}

function nodeTarget({ hostOf }: TargetSources, node: UnstructuredObject, { scheme, port }: Asked): ProxyTarget {
  const agent = agentAddress(node, hostOf);
  if (port === "" || Number(port) === agent.port)
    return { address: agent.host, port: agent.port, isSecure: true, isAgent: true };
  const { host } = agentAddress(node);
  return { address: host, port: portNumber(port), isSecure: scheme === "https", isAgent: false };
}

function unavailable(message: string): ApiError {
  return new ApiError(failure(503, "ServiceUnavailable", message));
}
