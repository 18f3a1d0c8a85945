/** Where a Service of the cluster answers, found by its endpoints: the server has no cluster network to ask. */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { ObjectReader } from "../admission/admission-plugin.ts";
import { numberAt, objectsAt, stringAt, valueAt } from "../builtin/json-fields.ts";

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

export interface ServicePort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** Resolves a Service to somebody who answers. Throws with the words of a real server. */
export type ResolveService = (service: ServicePort) => Endpoint;

/** The first ready endpoint of the Service. */
export function serviceEndpoints(reader: ObjectReader): ResolveService {
  return ({ namespace, name, port }) => {
    const service = reader.get("", "services", namespace, name);
    if (service === undefined) throw new Error(`service ${JSON.stringify(name)} not found`);
    if (stringAt(service, "spec", "type") === "ExternalName") {
      return { address: stringAt(service, "spec", "externalName"), port };
    }
    const portName = nameOfPort(service, name, port);
    const slices = reader
      .list("discovery.k8s.io", "endpointslices", namespace)
      .filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === name);
    const found = slices.map((slice) => readyEndpoint(slice, portName)).find((each) => each !== undefined);
    if (found === undefined) throw new Error(`no endpoints available for service ${JSON.stringify(name)}`);
    return found;
  };
}

function nameOfPort(service: UnstructuredObject, name: string, port: number): string {
  const found = objectsAt(service, "spec", "ports").find((each) => each["port"] === port);
  if (found === undefined) throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`);
  return stringAt(found, "name");
}

function readyEndpoint(slice: UnstructuredObject, portName: string): Endpoint | undefined {
  const port = objectsAt(slice, "ports").find((each) => stringAt(each, "name") === portName);
  const number = port === undefined ? undefined : numberAt(port, "port");
  const ready = objectsAt(slice, "endpoints").find((each) => valueAt(each, "conditions", "ready") !== false);
  const addresses = ready?.["addresses"];
  const address: unknown = Array.isArray(addresses) ? addresses[0] : undefined;
  return number === undefined || typeof address !== "string" ? undefined : { address, port: number };
}
