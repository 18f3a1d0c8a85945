/** What the pod workers of a node share. `node/create-pod-parts.ts` chooses the parts, tests use others. */
import type { Pod, PodStatus } from "@setpoint/api";
import type { Clock, Logger } from "@setpoint/host";
import type { ContainerRuntime } from "../sandbox/container-runtime.ts";
import type { LocalImage } from "../images/image.ts";
import type { PullSecret } from "../images/registry/pull-credentials.ts";
import type { PullRequest } from "../images/registry/registry-images.ts";
import type { PodVolumes } from "../volumes/pod-volumes.ts";
import type { PodNetwork } from "../network/pod-network.ts";
import type { DataReader, ServiceAddress } from "../pod/environment.ts";

export interface PodObjects {
  /** Data of the ConfigMaps and Secrets in the pod's namespace, as the informers show them. */
  dataReader(pod: Pod): Promise<DataReader>;
  /** The Services whose addresses a container of the pod gets as environment variables. */
  services(pod: Pod): readonly ServiceAddress[];
  /** The pod's `imagePullSecrets` that exist. */
  pullSecrets(pod: Pod): Promise<PullSecrets>;
}

export interface PullSecrets {
  readonly found: readonly PullSecret[];
  /** The names of those that do not exist. */
  readonly missing: readonly string[];
}

/** What a node reports to the API server about a pod. */
export interface PodReports {
  writeStatus(pod: Pod, status: PodStatus): Promise<void>;
  /** Deletes the pod, after its last process has ended. */
  removePod(pod: Pod): Promise<void>;
  event(pod: Pod, type: "Normal" | "Warning", reason: string, message: string, container?: string): void;
}

export interface PodParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly nodeName: string;
  /** Whether pods may have rights over the host; default: no. */
  readonly allowHost?: boolean;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly runtime: ContainerRuntime;
  readonly images: { has(name: string): boolean; ensure(name: string, request?: PullRequest): Promise<LocalImage> };
  readonly network: PodNetwork;
  readonly volumes: PodVolumes;
  readonly objects: PodObjects;
  readonly reports: PodReports;
  /** Files that each container gets from the node: resolv.conf, hosts, hostname. */
  hostFiles(pod: Pod, podIP: string): Readonly<Record<string, string>>;
  /** Holds logs and volumes of a pod. */
  podDirectory(podUid: string): string;
}
