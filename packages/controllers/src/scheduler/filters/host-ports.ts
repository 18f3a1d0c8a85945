import type { Pod } from "@setpoint/api";
import { type Filter, occupied } from "./filter.ts";

interface HostPort {
  readonly address: string;
  readonly protocol: string;
  readonly port: number;
}

function hostPortsOf({ spec }: Pod): readonly HostPort[] {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  return [...sidecars, ...(spec?.containers ?? [])]
    .flatMap(({ ports = [] }) => ports)
    .filter(({ hostPort = 0 }) => hostPort > 0)
    .map(({ hostIP = "", protocol = "TCP", hostPort = 0 }) => ({
      address: hostIP === "" ? "0.0.0.0" : hostIP,
      protocol,
      port: hostPort,
    }));
}

function collides(a: HostPort, b: HostPort): boolean {
  const sharesAddress = a.address === b.address || a.address === "0.0.0.0" || b.address === "0.0.0.0";
  return sharesAddress && a.port === b.port && a.protocol === b.protocol;
}

/** Two pods of a node have no host port in common. */
export const hostPortsFree: Filter = (pod, { pods }) => {
  const wanted = hostPortsOf(pod);
  if (wanted.length === 0) return [];
  const isTaken = pods.flatMap(hostPortsOf).some((each) => wanted.some((port) => collides(each, port)));
  return isTaken ? occupied("node(s) didn't have free ports for the requested pod ports") : [];
};
