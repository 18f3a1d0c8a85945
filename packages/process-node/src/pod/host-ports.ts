/** The ports of its node that a pod takes. */
import type { ContainerPort, Pod } from "@setpoint/api";
import { isSidecar } from "../cluster/pod.ts";

const everyAddress: ReadonlySet<string> = new Set(["", "0.0.0.0", "::"]);

/** Whether both pods ask for the same port of their node. */
export function shareHostPort(one: Pod, other: Pod): boolean {
  const taken = hostPorts(other);
  return hostPorts(one).some((port) => taken.some((each) => isSame(port, each)));
}

function hostPorts({ spec }: Pod): readonly ContainerPort[] {
  const containers = [...spec.containers, ...(spec.initContainers ?? []).filter(isSidecar)];
  return containers.flatMap(({ ports = [] }) => ports.filter(({ hostPort = 0 }) => hostPort > 0));
}

function isSame(one: ContainerPort, other: ContainerPort): boolean {
  const [a, b] = [one.hostIP ?? "", other.hostIP ?? ""];
  return (
    one.hostPort === other.hostPort &&
    (one.protocol ?? "TCP") === (other.protocol ?? "TCP") &&
    (everyAddress.has(a) || everyAddress.has(b) || a === b)
  );
}
