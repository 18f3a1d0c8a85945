/**
 * Resolves a Service to one of its endpoints: the server is not on the cluster network.
 */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { ObjectReader } from "../registry/object-reader.ts";
import { numberAt, objectsAt, stringAt, valueAt } from "../registry/json-fields.ts";

/** The address and port of a ready endpoint of a Service; for ExternalName the external name. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** A Service and the number of one of its ports. */
export interface ServicePort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** Resolves a Service to the address of a ready endpoint. Throws with the message of kube-apiserver. */
export type ResolveService = (service: ServicePort) => Endpoint;

/** The ready endpoints of the Service in turn, so that one that hangs does not get all calls. */
export function serviceEndpoints(reader: ObjectReader): ResolveService {
  let calls = 0;
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
    const ready = slices.flatMap((slice) => readyEndpoints(slice, portName));
    const found = ready[calls++ % ready.length];
    if (found === undefined) throw new Error(`no endpoints available for service ${JSON.stringify(name)}`);
    return found;
  };
}

function nameOfPort(service: UnstructuredObject, name: string, port: number): string {
  const found = objectsAt(service, "spec", "ports").find((each) => each["port"] === port);
  if (found === undefined) throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`);
  return stringAt(found, "name");
}

function readyEndpoints(slice: UnstructuredObject, portName: string): readonly Endpoint[] {
  const found = objectsAt(slice, "ports").find((each) => stringAt(each, "name") === portName);
  const port = found === undefined ? undefined : numberAt(found, "port");
  if (port === undefined) return [];
  return objectsAt(slice, "endpoints").flatMap((endpoint) => {
    const { addresses } = endpoint;
    const address: unknown = Array.isArray(addresses) ? addresses[0] : undefined;
    const isReady = valueAt(endpoint, "conditions", "ready") !== false;
    return isReady && typeof address === "string" ? [{ address, port }] : [];
  });
}
