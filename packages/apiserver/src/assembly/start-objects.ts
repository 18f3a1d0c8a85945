/**
 * The objects that every new cluster contains: system namespaces, the RBAC bootstrap, priority classes, flow
 * schemas, the Service `kubernetes`.
 */
import { matchesLabelSelector } from "@setpoint/apimachinery";
import { firstServiceAddress, defaultServiceCidr } from "../admission/service-ip-allocator.ts";
import { startObjects } from "../registry/builtin/api-data.ts";
import { type JsonObject, objectAt, objectsAt, stringAt } from "../registry/json-fields.ts";

/** The settings of a cluster that its first objects contain. */
export interface StartOptions {
  /** The range of the cluster IPs of Services; the Service `kubernetes` gets the first. */
  readonly serviceCidr?: string;
  /** The port that the API server listens on, for the Service `kubernetes`. */
  readonly port?: number;
}

/** Objects of one list; they have neither apiVersion nor kind, which follow from the path. */
export interface StartList {
  readonly path: string;
  readonly objects: readonly JsonObject[];
}

const defaultPort = 6443;
/** Kept by the allocator of a real server; ours reads what is taken from the Services themselves. */
const leftOut: ReadonlySet<string> = new Set(["/apis/networking.k8s.io/v1/ipaddresses"]);
const clusterRolesPath = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

/** The objects that a new cluster contains, as lists by API path, recorded from kube-apiserver. */
export function objectsAtStart(options: StartOptions = {}): readonly StartList[] {
  return Object.entries(startObjects())
    .filter(([path]) => !leftOut.has(path))
    .map(([path, objects]) => ({ path, objects: adapt(path, objects, options) }));
}

function adapt(path: string, objects: readonly JsonObject[], options: StartOptions): readonly JsonObject[] {
  if (path === clusterRolesPath) return aggregate(objects);
  if (path === "/api/v1/services") return objects.map((service) => kubernetesService(service, options));
  if (path === "/apis/networking.k8s.io/v1/servicecidrs") {
    return objects.map((each) => ({ ...each, spec: { cidrs: [options.serviceCidr ?? defaultServiceCidr] } }));
  }
  return objects;
}

function kubernetesService(service: JsonObject, options: StartOptions): JsonObject {
  const clusterIP = firstServiceAddress(options.serviceCidr ?? defaultServiceCidr);
  const ports = objectsAt(service, "spec", "ports").map((port) => ({
    ...port,
    targetPort: options.port ?? defaultPort,
  }));
  return { ...service, spec: { ...objectAt(service, "spec"), clusterIP, clusterIPs: [clusterIP], ports } };
}

/**
 * The roles admin, edit and view collect the rules of labelled roles. A controller keeps them so; they are
 * filled here too, because an API server without controllers should know what an admin may do.
 */
function aggregate(roles: readonly JsonObject[]): readonly JsonObject[] {
  const collected = new Map<string, readonly unknown[]>(
    roles.map((role) => [stringAt(role, "metadata", "name"), rulesOf(role)]),
  );
  const aggregating = roles.filter((role) => role["aggregationRule"] !== undefined);
  // A role that aggregates may be collected by another one; as many passes as there are such roles reach all
  // of them.
  for (const _ of aggregating)
    for (const role of aggregating) collected.set(stringAt(role, "metadata", "name"), collect(role, roles, collected));
  return roles.map((role) =>
    role["aggregationRule"] === undefined
      ? role
      : { ...role, rules: collected.get(stringAt(role, "metadata", "name")) },
  );
}

function rulesOf(role: JsonObject): readonly unknown[] {
  return Array.isArray(role["rules"]) ? role["rules"] : [];
}

function collect(
  role: JsonObject,
  roles: readonly JsonObject[],
  collected: ReadonlyMap<string, readonly unknown[]>,
): readonly unknown[] {
  const selectors = objectsAt(role, "aggregationRule", "clusterRoleSelectors");
  const matching = roles.filter(
    (each) =>
      each !== role &&
      selectors.some((selector) =>
        matchesLabelSelector(selector, objectAt(each, "metadata", "labels") as Record<string, string>),
      ),
  );
  const rules = matching.flatMap((each) => collected.get(stringAt(each, "metadata", "name")) ?? []);
  return [...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values()];
}
