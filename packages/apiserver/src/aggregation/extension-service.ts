/** APIServices that name a Service: a group and version that another server in the cluster answers. */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import { numberAt, objectAt, stringAt, valueAt } from "../registry/json-fields.ts";
import type { ObjectReader } from "../registry/object-reader.ts";

/** Where an extension server is, and how its certificate is verified. */
export interface ExtensionService {
  /** Of the APIService: `v1alpha1.wardle.example.com`. */
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number };
  /** Base64 of PEM; empty: Node's own list of authorities. */
  readonly caBundle: string;
  readonly insecure: boolean;
}

const defaultPort = 443;
const extensionPath = /^(?:\/openapi\/v3)?\/apis\/([^/]+)\/([^/]+)(?:\/|$)/;

/** The extension server that answers a path; undefined when no APIService has its group and version. */
export function extensionAt(path: string, reader: ObjectReader): ExtensionService | undefined {
  const [, group, version] = extensionPath.exec(path) ?? [];
  if (group === undefined || version === undefined) return undefined;
  const object = reader.get("apiregistration.k8s.io", "apiservices", "", `${version}.${group}`);
  return object === undefined ? undefined : parseExtension(object);
}

/** All extension servers by the names of their APIServices. */
export function listExtensions(reader: ObjectReader): readonly ExtensionService[] {
  const objects = reader.list("apiregistration.k8s.io", "apiservices");
  return objects.map(parseExtension).filter((each) => each !== undefined);
}

/** Undefined for an APIService of this server itself. */
function parseExtension(object: UnstructuredObject): ExtensionService | undefined {
  const service = objectAt(object, "spec", "service");
  if (Object.keys(service).length === 0) return undefined;
  return {
    name: object.metadata.name ?? "",
    group: stringAt(object, "spec", "group"),
    version: stringAt(object, "spec", "version"),
    service: {
      namespace: stringAt(service, "namespace"),
      name: stringAt(service, "name"),
      port: numberAt(service, "port") ?? defaultPort,
    },
    caBundle: stringAt(object, "spec", "caBundle"),
    insecure: valueAt(object, "spec", "insecureSkipTLSVerify") === true,
  };
}
