/** Which pod and port stand behind a port of a Service; pure. */
import type { EndpointSlice, Service } from "@setpoint/api";
import { SetpointError } from "@setpoint/apimachinery";
import { usageError } from "../command.ts";

/** The code of errors about a Service to which nobody can connect by a forwarded port. */
export const serviceUnreachable = "ERR_SERVICE_UNREACHABLE";

/** A port of a Service. */
export interface ServicePort {
  /** Empty when it is the only one. */
  readonly name: string;
  readonly port: number;
}

/** A pod behind the Service, and the port on which it serves it. */
export interface Target {
  readonly pod: string;
  readonly port: number;
}

/** The port with this name or number; without one, all that carry TCP. Throws when there is none. */
export function portsToConnect(service: Service, wanted: string | undefined): readonly ServicePort[] {
  const { name = "" } = service.metadata;
  const { type, externalName = "", ports = [] } = service.spec ?? {};
  const cannot = `Cannot connect to Service "${name}"`;
  if (type === "ExternalName")
    throw new SetpointError(serviceUnreachable, `${cannot}: it stands for ${externalName}; connect to that name`);
  const tcp = ports.filter(({ protocol = "TCP" }) => protocol === "TCP");
  if (tcp.length === 0)
    throw new SetpointError(serviceUnreachable, `${cannot}: it has no TCP port, and nothing else can be forwarded`);
  const all = tcp.map(({ name: portName = "", port }) => ({ name: portName, port }));
  if (wanted === undefined) return all;
  const found = all.find((each) => each.name === wanted || String(each.port) === wanted);
  if (found !== undefined) return [found];
  const expected = all.map((each) => [each.port, ...(each.name === "" ? [] : [each.name])].join(" or ")).join(", ");
  throw new SetpointError(usageError, `${cannot}: it has no port "${wanted}"; expected ${expected}`);
}

/**
 * The ready pods with the port, which may differ from pod to pod when the Service names it. Throws when
 * something else than pods stands behind the Service.
 */
export function readyTargets(
  serviceName: string,
  { name }: ServicePort,
  slices: readonly EndpointSlice[],
): readonly Target[] {
  const found = slices.flatMap(({ endpoints, ports = [] }) => {
    const port = ports.find((each) => (each.name ?? "") === name)?.port;
    const ready = (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false);
    return port === undefined ? [] : ready.map(({ targetRef }) => ({ targetRef, port }));
  });
  const targets = found.flatMap(({ targetRef, port }) =>
    targetRef?.kind === "Pod" && targetRef.name !== undefined ? [{ pod: targetRef.name, port }] : [],
  );
  if (found.length > 0 && targets.length === 0)
    throw new SetpointError(
      serviceUnreachable,
      `Cannot connect to Service "${serviceName}": what stands behind it are addresses and no pods; only ports of pods can be forwarded`,
    );
  return targets;
}
