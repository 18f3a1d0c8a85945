/** From a container of a pod and its image to what the runtime starts. */
import type { Container, EphemeralContainer, Pod, VolumeMount } from "@setpoint/api";
import type { ContainerSpec } from "../sandbox/container-runtime.ts";
import { parseSignal } from "../sandbox/signals.ts";
import { createTerminationFile } from "../logs/termination-message.ts";
import { nodeError } from "../errors.ts";
import type { LocalImage } from "../images/image.ts";
import { inImage } from "../images/root-path.ts";
import type { PreparedVolume } from "../volumes/pod-volumes.ts";
import type { PodParts } from "./pod-parts.ts";
import type { PodFacts } from "../volumes/downward-api.ts";
import { containerEnvironment, expandVariables } from "../pod/environment.ts";
import { containerLimits } from "../pod/container-limits.ts";
import { containerIdentity } from "../pod/container-security.ts";
import { podHostname, podIdentity } from "../cluster/pod.ts";
import { refuseUnsupported } from "../pod/refusals.ts";
import { pathBeneath } from "../volumes/path-beneath.ts";

export interface ContainerContext {
  readonly pod: Pod;
  readonly container: Container;
  readonly image: LocalImage;
  readonly attempt: number;
  readonly podIP: string;
  readonly volumes: ReadonlyMap<string, PreparedVolume>;
  readonly processId: (container: string) => number | undefined;
}

export async function describeContainer(parts: PodParts, context: ContainerContext): Promise<ContainerSpec> {
  const { pod, container, image } = context;
  refuseUnsupported(pod, container, parts);
  const facts = podFacts(parts, pod, context.podIP);
  const env = containerEnvironment(pod, container, {
    facts,
    read: await parts.objects.dataReader(pod),
    services: parts.objects.services(pod),
    image: image.config.env ?? {},
  });
  const target = targetProcess(context);
  const workingDirectory = container.workingDir ?? image.config.workingDirectory;
  const stopSignal = parseSignal(container.lifecycle?.stopSignal ?? image.config.stopSignal ?? "");
  const { user, group, security } = inImage(image.name, () => containerIdentity(pod, container, image));
  return {
    id: `${podIdentity(pod).uid}/${container.name}/${context.attempt}`,
    image: image.name,
    rootDirectory: image.rootDirectory,
    command: containerCommand(container, image, env),
    env,
    ...(workingDirectory === undefined || workingDirectory === "" ? {} : { workingDirectory }),
    hostname: facts.hostname,
    mounts: [...containerMounts(container, context.volumes, env), terminationMount(parts, context)],
    files: parts.hostFiles(pod, context.podIP),
    runAsUser: user,
    runAsGroup: group,
    security,
    limits: containerLimits(container),
    ...(stopSignal === undefined ? {} : { stopSignal }),
    ...(target === undefined ? {} : { joinedProcess: target }),
    tty: container.tty === true,
    stdin: container.stdin !== true ? "none" : container.stdinOnce === true ? "once" : "open",
    readOnlyRoot: container.securityContext?.readOnlyRootFilesystem === true,
  };
}

/** An ephemeral container may see the processes of another one. */
function targetProcess({ container, processId }: ContainerContext): number | undefined {
  const { targetContainerName = "" } = container as EphemeralContainer;
  if (targetContainerName === "") return undefined;
  const target = processId(targetContainerName);
  if (target !== undefined) return target;
  const message = `unable to find target container "${targetContainerName}": it does not run`;
  throw nodeError("ERR_CONTAINER_CONFIG", message);
}

/** What the node knows about a pod, for environment variables and downward files. */
export function podFacts(
  { nodeName, cpus, memoryBytes, network }: Pick<PodParts, "cpus" | "memoryBytes" | "network" | "nodeName">,
  pod: Pod,
  podIP: string,
): PodFacts {
  return { podIP, hostIP: network.nodeAddress, nodeName, hostname: podHostname(pod), cpus, memoryBytes };
}

/** `command` replaces the image's entry point and drops its command; `args` replace its command. */
export function containerCommand(
  container: Container,
  image: LocalImage,
  env: Readonly<Record<string, string>>,
): string[] {
  const hasCommand = (container.command ?? []).length > 0;
  const entrypoint = hasCommand ? (container.command ?? []) : (image.config.entrypoint ?? []);
  const defaults = hasCommand ? [] : (image.config.command ?? []);
  const args = (container.args ?? []).length > 0 ? (container.args ?? []) : defaults;
  const command = [...entrypoint, ...args].map((text) => expandVariables(text, env));
  if (command.length > 0) return command;
  throw nodeError(
    "ERR_CONTAINER_CONFIG",
    `no command: neither container "${container.name}" nor image "${image.name}" names one`,
  );
}

/** Where the program may say why it ended. */
function terminationMount(
  parts: PodParts,
  { pod, container, attempt }: ContainerContext,
): ContainerSpec["mounts"][number] {
  const directory = parts.podDirectory(podIdentity(pod).uid);
  const target = container.terminationMessagePath ?? "/dev/termination-log";
  return { source: createTerminationFile(directory, container.name, attempt), target };
}

function containerMounts(
  container: Container,
  volumes: ReadonlyMap<string, PreparedVolume>,
  env: Readonly<Record<string, string>>,
): ContainerSpec["mounts"] {
  return (container.volumeMounts ?? []).map((mount) => {
    const volume = volumes.get(mount.name);
    if (volume === undefined)
      throw nodeError("ERR_CONTAINER_CONFIG", `volumeMount "${mount.name}" names no volume of the pod`);
    const subPath = mountedPath(mount, env);
    return {
      source: volume.source,
      target: mount.mountPath,
      readOnly: mount.readOnly === true || volume.readOnly,
      ...(volume.ownIds === undefined ? {} : { ownIds: volume.ownIds }),
      ...(volume.hasDevices === undefined ? {} : { hasDevices: volume.hasDevices }),
      ...(subPath === undefined ? {} : { subPath: pathBeneath(volume.source, subPath) }),
    };
  });
}

function mountedPath({ subPath = "", subPathExpr = "" }: VolumeMount, env: Readonly<Record<string, string>>) {
  if (subPathExpr === "") return subPath === "" ? undefined : subPath;
  const expanded = expandVariables(subPathExpr, env);
  if (!expanded.includes("$(")) return expanded;
  throw nodeError("ERR_CONTAINER_CONFIG", `failed to expand subPath for volumeMount: subPathExpr "${subPathExpr}"`);
}
