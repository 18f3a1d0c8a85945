/**
 * The environment of a container: pure, from the pod, its ConfigMaps and Secrets, and the Services of its
 * namespace.
 */
import type { ConfigMapKeySelector, Container, EnvFromSource, EnvVar, Pod } from "@setpoint/api";
import { podIdentity } from "../cluster/pod.ts";
import { nodeError } from "../errors.ts";
import { fieldValue, type PodFacts, resourceValue } from "../volumes/downward-api.ts";

/** Data of a ConfigMap or Secret as text; undefined when there is no such object. */
export type DataReader = (kind: "ConfigMap" | "Secret", name: string) => Readonly<Record<string, string>> | undefined;

export interface ServiceAddress {
  readonly name: string;
  readonly clusterIP: string;
  readonly ports: readonly { readonly name?: string; readonly port: number; readonly protocol?: string }[];
}

export interface EnvironmentSources {
  readonly facts: PodFacts;
  readonly read: DataReader;
  readonly services: readonly ServiceAddress[];
  /** The image's own variables. */
  readonly image: Readonly<Record<string, string>>;
}

const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Throws ERR_CONTAINER_CONFIG when something that is not optional is missing. */
export function containerEnvironment(
  pod: Pod,
  container: Container,
  sources: EnvironmentSources,
): Record<string, string> {
  const env: Record<string, string> = { PATH: defaultPath, HOSTNAME: sources.facts.hostname, ...sources.image };
  for (const service of sources.services) Object.assign(env, serviceVariables(service));
  for (const source of container.envFrom ?? []) Object.assign(env, fromSource(source, sources.read));
  for (const variable of container.env ?? []) {
    const value = variableValue(pod, container, variable, env, sources);
    if (value !== undefined) env[variable.name] = value;
  }
  return env;
}

/** Replaces `$(NAME)` by its value; `$$(NAME)` is an escape, an unknown name stays as it is. */
export function expandVariables(text: string, env: Readonly<Record<string, string>>): string {
  return text.replace(/\$\$|\$\(([^)]*)\)/g, (whole, name: string | undefined) => {
    if (name === undefined) return "$";
    return env[name] ?? whole;
  });
}

/** The variables of Docker links, which Kubernetes still gives to each container. */
export function serviceVariables(service: ServiceAddress): Record<string, string> {
  const prefix = service.name.toUpperCase().replaceAll("-", "_");
  const [first] = service.ports;
  if (first === undefined) return {};
  const env: Record<string, string> = {
    [`${prefix}_SERVICE_HOST`]: service.clusterIP,
    [`${prefix}_SERVICE_PORT`]: String(first.port),
  };
  for (const { name, port } of service.ports) {
    if (name !== undefined && name !== "")
      env[`${prefix}_SERVICE_PORT_${name.toUpperCase().replaceAll("-", "_")}`] = String(port);
  }
  for (const { port, protocol = "TCP" } of service.ports) {
    const lower = protocol.toLowerCase();
    const base = `${prefix}_PORT_${port}_${protocol}`;
    const url = `${lower}://${service.clusterIP}:${port}`;
    if (port === first.port) env[`${prefix}_PORT`] = url;
    Object.assign(env, {
      [base]: url,
      [`${base}_PROTO`]: lower,
      [`${base}_PORT`]: String(port),
      [`${base}_ADDR`]: service.clusterIP,
    });
  }
  return env;
}

function fromSource(source: EnvFromSource, read: DataReader): Record<string, string> {
  const reference = source.configMapRef ?? source.secretRef;
  if (reference === undefined) return {};
  const kind = source.configMapRef === undefined ? "Secret" : "ConfigMap";
  const data = read(kind, reference.name ?? "");
  if (data === undefined && reference.optional !== true) throw missing(kind, reference.name);
  return Object.fromEntries(Object.entries(data ?? {}).map(([key, value]) => [(source.prefix ?? "") + key, value]));
}

function variableValue(
  pod: Pod,
  container: Container,
  variable: EnvVar,
  env: Readonly<Record<string, string>>,
  sources: EnvironmentSources,
): string | undefined {
  const from = variable.valueFrom;
  if (from === undefined) return expandVariables(variable.value ?? "", env);
  if (from.fieldRef !== undefined) return fieldValue(pod, sources.facts, from.fieldRef.fieldPath);
  if (from.resourceFieldRef !== undefined)
    return resourceValue(pod, sources.facts, container.name, from.resourceFieldRef);
  const { namespace } = podIdentity(pod);
  if (from.configMapKeyRef !== undefined) return keyValue("ConfigMap", from.configMapKeyRef, namespace, sources.read);
  if (from.secretKeyRef !== undefined) return keyValue("Secret", from.secretKeyRef, namespace, sources.read);
  return undefined;
}

function keyValue(
  kind: "ConfigMap" | "Secret",
  selector: ConfigMapKeySelector,
  namespace: string,
  read: DataReader,
): string | undefined {
  const data = read(kind, selector.name ?? "");
  const value = data?.[selector.key];
  if (value !== undefined || selector.optional === true) return value;
  if (data === undefined) throw missing(kind, selector.name);
  throw nodeError(
    "ERR_CONTAINER_CONFIG",
    `couldn't find key ${selector.key} in ${kind} ${namespace}/${selector.name ?? ""}`,
  );
}

function missing(kind: "ConfigMap" | "Secret", name: string | undefined): Error {
  return nodeError("ERR_CONTAINER_CONFIG", `${kind.toLowerCase()} "${name ?? ""}" not found`);
}
