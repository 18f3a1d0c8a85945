import type { Container, ContainerStatus, Pod } from "@setpoint/api";
import { podIdentity } from "../cluster/pod.ts";
import { dropOldLogs } from "../logs/container-log.ts";
import { terminationMessage } from "../logs/termination-message.ts";
import type { PullSecret } from "../images/registry/pull-credentials.ts";
import { runProbe } from "../probes/probe-runner.ts";
import type { AdoptedContainer } from "../sandbox/container-runtime.ts";
import type { PreparedVolume } from "../volumes/pod-volumes.ts";
import { describeContainer } from "./container-description.ts";
import { ContainerWorker } from "./container-worker.ts";
import type { PodParts } from "./pod-parts.ts";

/** The pod of a container worker, as it is at the time of each call. */
export interface ContainerPod {
  pod(): Pod;
  podIP(): string;
  volumes(): ReadonlyMap<string, PreparedVolume>;
  networkReady(): Promise<void> | undefined;
  /** Of a container that runs, as the host sees it. */
  readonly processId: (container: string) => number | undefined;
  changed(): void;
}

/** Connects a container worker to its pod and to the parts of the node. */
export function createContainerWorker(
  parts: PodParts,
  of: ContainerPod,
  container: Container,
  recorded: ContainerStatus | undefined,
  adopted: AdoptedContainer | undefined,
): ContainerWorker {
  const { clock, images, network, runtime, reports } = parts;
  const { namespace, name, uid } = podIdentity(of.pod());
  const directory = parts.podDirectory(uid);
  return new ContainerWorker(
    container,
    {
      clock,
      podLabel: `${name}_${namespace}(${uid})`,
      podUid: uid,
      creatingReason: (of.pod().spec.initContainers ?? []).length > 0 ? "PodInitializing" : "ContainerCreating",
      hasImage: (image) => images.has(image),
      pullImage: (image, request) =>
        images.ensure(image, { ...request, secrets: () => pullSecrets(parts, of.pod(), container.name) }),
      describe: (it, image, attempt) =>
        describeContainer(parts, {
          pod: of.pod(),
          container: it,
          image,
          attempt,
          podIP: of.podIP(),
          volumes: of.volumes(),
          processId: (other) => of.processId(other),
        }),
      start(spec) {
        dropOldLogs(directory, container.name, Number(spec.id.split("/").at(-1)));
        return runtime.start(spec, of.networkReady());
      },
      probe: (it, running, handler, timeoutMs) =>
        runProbe(
          clock,
          handler,
          { podIP: of.podIP(), container: it, running, connect: (...to) => network.connect(...to) },
          timeoutMs,
        ),
      event: (type, reason, message, containerName) => reports.event(of.pod(), type, reason, message, containerName),
      changed: () => of.changed(),
      ended: (it, attempt, exitCode) => terminationMessage(directory, it, attempt, exitCode),
    },
    recorded,
    adopted,
  );
}

async function pullSecrets(
  { objects, reports }: PodParts,
  pod: Pod,
  container: string,
): Promise<readonly PullSecret[]> {
  const { found, missing } = await objects.pullSecrets(pod);
  if (missing.length > 0) {
    const message = `Unable to retrieve some image pull secrets (${missing.join(", ")}); attempting to pull the image may not succeed.`;
    reports.event(pod, "Warning", "FailedToRetrieveImagePullSecret", message, container);
  }
  return found;
}
