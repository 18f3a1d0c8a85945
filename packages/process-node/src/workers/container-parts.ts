import type { Container } from "@setpoint/api";
import type { Clock } from "@setpoint/host";
import type { ProbeHandler } from "../cluster/pod.ts";
import type { LocalImage } from "../images/image.ts";
import type { ProbeResult } from "../probes/probe-runner.ts";
import type { ContainerSpec, RunningContainer } from "../sandbox/container-runtime.ts";

/** What a container worker needs of its pod and node. */
export interface ContainerParts {
  readonly clock: Clock;
  /** As kubelets name a pod in messages: `web-0_default(uid)`. */
  readonly podLabel: string;
  readonly podUid: string;
  /** Why a container waits that nothing has stopped from starting. */
  readonly creatingReason: "ContainerCreating" | "PodInitializing";
  hasImage(image: string): boolean;
  /** `isFresh`: its registry is asked even if it is here. */
  pullImage(image: string, request: { readonly isFresh: boolean; readonly signal: AbortSignal }): Promise<LocalImage>;
  /** The container of this attempt as the runtime starts it. Throws ERR_CONTAINER_CONFIG. */
  describe(container: Container, image: LocalImage, attempt: number): Promise<ContainerSpec>;
  start(spec: ContainerSpec): Promise<RunningContainer>;
  probe(
    container: Container,
    running: RunningContainer,
    handler: ProbeHandler,
    timeoutMs: number,
  ): Promise<ProbeResult>;
  event(type: "Normal" | "Warning", reason: string, message: string, container: string): void;
  /** The status of the pod may have changed. */
  changed(): void;
  /** The termination message of a run whose output is complete. */
  ended(container: Container, attempt: number, exitCode: number): string | undefined;
}

/** A wrong configuration is tried again after this time: a ConfigMap may have been created meanwhile. */
export const configRetryMs = 5_000;
