/** What the pod workers of a node share. `node/create-pod-parts.ts` chooses the parts, tests use others. */
import type { Pod, PodStatus } from "@setpoint/api";
import type { Clock, Logger } from "@setpoint/host";
import type { ContainerRuntime } from "../sandbox/container-runtime.ts";
import type { LocalImage } from "../images/image.ts";
import type { PodVolumes } from "../volumes/pod-volumes.ts";
import type { PodNetwork } from "../network/pod-network.ts";
import type { DataReader, ServiceAddress } from "../pod/environment.ts";

export interface PodObjects {
  /** A ConfigMap's or Secret's data in the pod's namespace, fresh enough for a start. */
  dataReader(pod: Pod): Promise<DataReader>;
  /** The Services whose addresses a container of the pod gets as variables. */
  services(pod: Pod): readonly ServiceAddress[];
}

/** The node's way to the API server about one pod. */
export interface PodReports {
  writeStatus(pod: Pod, status: PodStatus): Promise<void>;
  /** The last word: the pod's processes are gone. */
  removePod(pod: Pod): Promise<void>;
  event(pod: Pod, type: "Normal" | "Warning", reason: string, message: string, container?: string): void;
}

export interface PodParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly nodeName: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly runtime: ContainerRuntime;
  readonly images: { has(name: string): boolean; ensure(name: string, signal?: AbortSignal): Promise<LocalImage> };
  readonly network: PodNetwork;
  readonly volumes: PodVolumes;
  readonly objects: PodObjects;
  readonly reports: PodReports;
  /** Files that the node puts into each container: resolv.conf, hosts, hostname. */
  hostFiles(pod: Pod, podIP: string): Readonly<Record<string, string>>;
  /** Where logs and volumes of a pod lie. */
  podDirectory(podUid: string): string;
}
