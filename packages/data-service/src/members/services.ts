/** The Services of an instance: names for its members, and addresses for clients. */
import { Service } from "setpoint/kinds";
import type { MemberSet } from "./member-set.ts";

type ServiceSpec = NonNullable<Service["spec"]>;
type ServicePort = NonNullable<ServiceSpec["ports"]>[number];

/** What one of the Services is beside the instance's name, which all select. */
export interface ServiceRole {
  readonly nameOf: (instance: string) => string;
  readonly ports: readonly ServicePort[];
  readonly rest: Pick<ServiceSpec, "clusterIP" | "publishNotReadyAddresses">;
  /** Labels that it selects beside the instance's name, such as that of the primary. */
  readonly selects?: Readonly<Record<string, string>>;
}

/** The Service of a role, complete. */
export function memberService(set: MemberSet, { nameOf, ports, rest, selects }: ServiceRole): Service {
  const { name, namespace, label } = set;
  const labels = { [label]: name };
  return Service({
    name: nameOf(name),
    namespace,
    labels,
    spec: { ...rest, selector: { ...labels, ...selects }, ports: [...ports] },
  });
}

/** Services have addresses of the loopback network where pods have them too. */
export function isOutsideOfLoopback(service: Service | undefined): boolean {
  const { clusterIP = "" } = service?.spec ?? {};
  return clusterIP !== "" && clusterIP !== "None" && !clusterIP.startsWith("127.");
}

/** What follows from the Services that there are, by their names. */
export interface ServiceJudgement {
  /** Names of Services that are missing or differ from the desired ones. */
  readonly servicesToApply: readonly string[];
  /** A Service of our name that another owner has. */
  readonly serviceTaken?: string | undefined;
  /** Pods have loopback addresses of their own, as everywhere but on a node whose pods share the host's. */
  readonly hasLoopback: boolean;
}

/** Compares the Services of an instance with those that its roles want. */
export function judgeServices(
  set: MemberSet,
  roles: readonly ServiceRole[],
  services: ReadonlyMap<string, Service>,
): ServiceJudgement {
  const servicesToApply: string[] = [];
  let hasLoopback = false;
  for (const role of roles) {
    const name = role.nameOf(set.name);
    const present = services.get(name);
    if (present !== undefined && !isOurs(present, set)) return { servicesToApply: [], serviceTaken: name, hasLoopback };
    if (present === undefined || !isServiceAsWanted(present, set, role)) servicesToApply.push(name);
    hasLoopback ||= isOutsideOfLoopback(present);
  }
  return { servicesToApply, hasLoopback };
}

function isOurs({ metadata }: Service, { uid }: MemberSet): boolean {
  return metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false;
}

/** Compares what we set; the rest of a Service belongs to the server and to others. */
function isServiceAsWanted({ metadata, spec }: Service, { name, label }: MemberSet, role: ServiceRole): boolean {
  const { ports = [], selector = {}, publishNotReadyAddresses = false } = spec;
  const selected = Object.entries({ [label]: name, ...role.selects });
  return (
    metadata.labels?.[label] === name &&
    selected.every(([key, value]) => selector[key] === value) &&
    // One label more, and it selects nobody.
    Object.keys(selector).length === selected.length &&
    publishNotReadyAddresses === (role.rest.publishNotReadyAddresses ?? false) &&
    ports.length === role.ports.length &&
    ports.every((port, at) => isSamePort(port, role.ports[at]))
  );
}

function isSamePort({ name, port, targetPort }: ServicePort, wanted: ServicePort | undefined): boolean {
  return name === wanted?.name && port === wanted?.port && targetPort === wanted?.targetPort;
}

/**
 * A merge patch that restores a Service. An apply is not enough, because it keeps what another client added.
 * A port with a changed number counts as added, and the server refuses ours beside it, because both have the
 * same name.
 */
export function serviceRestoration({ spec }: Service, wanted: Service): object {
  const foreign = Object.keys(spec?.selector ?? {}).map((label) => [label, null] as const);
  const selector = { ...Object.fromEntries(foreign), ...wanted.spec?.selector };
  const { ports, publishNotReadyAddresses = false } = wanted.spec ?? {};
  return { metadata: { labels: wanted.metadata.labels }, spec: { selector, ports, publishNotReadyAddresses } };
}
