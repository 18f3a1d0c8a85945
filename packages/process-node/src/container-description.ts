/** From a container of a pod and its image to what the runtime starts. */
import { join } from "node:path/posix";
import type { ContainerSpec } from "./container-runtime.ts";
import { createTerminationFile } from "./logs/termination-message.ts";
import { nodeError } from "./errors.ts";
import type { LocalImage } from "./images/image.ts";
import type { PodParts, PreparedVolume } from "./pod-parts.ts";
import type { PodFacts } from "./pod/downward-api.ts";
import { containerEnvironment, expandVariables } from "./pod/environment.ts";
import { type Container, type Pod, podHostname, podIdentity } from "./pod/pod.ts";

export interface ContainerContext {
  readonly pod: Pod;
  readonly container: Container;
  readonly image: LocalImage;
  readonly attempt: number;
  readonly podIP: string;
  readonly volumes: ReadonlyMap<string, PreparedVolume>;
  readonly onOutput: ContainerSpec["onOutput"];
}

export async function describeContainer(parts: PodParts, context: ContainerContext): Promise<ContainerSpec> {
  const { pod, container, image } = context;
  const facts = podFacts(parts, pod, context.podIP);
  const env = containerEnvironment(pod, container, {
    facts,
    read: await parts.objects.dataReader(pod),
    services: parts.objects.services(pod),
    image: image.config.env ?? {},
  });
  const workingDirectory = container.workingDir ?? image.config.workingDirectory;
  const user = container.securityContext?.runAsUser ?? pod.spec.securityContext?.runAsUser;
  const group = container.securityContext?.runAsGroup ?? pod.spec.securityContext?.runAsGroup;
  refuseRoot(pod, container, user ?? 0);
  return {
    id: `${podIdentity(pod).uid}/${container.name}/${context.attempt}`,
    rootDirectory: image.rootDirectory,
    command: containerCommand(container, image, env),
    env,
    ...(workingDirectory === undefined || workingDirectory === "" ? {} : { workingDirectory }),
    hostname: facts.hostname,
    mounts: [...containerMounts(container, context.volumes), terminationMount(parts, context)],
    files: parts.hostFiles(pod, context.podIP),
    ...(user === undefined ? {} : { runAsUser: user }),
    ...(group === undefined ? {} : { runAsGroup: group }),
    readOnlyRoot: container.securityContext?.readOnlyRootFilesystem === true,
    onOutput: context.onOutput,
  };
}

/** Images of this node run as root unless the pod says otherwise. */
function refuseRoot(pod: Pod, container: Container, user: number): void {
  const runAsNonRoot = container.securityContext?.runAsNonRoot ?? pod.spec.securityContext?.runAsNonRoot;
  if (runAsNonRoot !== true || user !== 0) return;
  const message = `container has runAsNonRoot and image will run as root (pod: "${podIdentity(pod).name}", container: ${container.name})`;
  throw nodeError("ERR_CONTAINER_CONFIG", message);
}

export function podFacts(parts: PodParts, pod: Pod, podIP: string): PodFacts {
  const { nodeName, cpus, memoryBytes } = parts;
  return { podIP, hostIP: parts.network.nodeAddress, nodeName, hostname: podHostname(pod), cpus, memoryBytes };
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

function containerMounts(container: Container, volumes: ReadonlyMap<string, PreparedVolume>): ContainerSpec["mounts"] {
  return (container.volumeMounts ?? []).map(({ name, mountPath, subPath, readOnly }) => {
    const volume = volumes.get(name);
    if (volume === undefined)
      throw nodeError("ERR_CONTAINER_CONFIG", `volumeMount "${name}" names no volume of the pod`);
    const source = subPath === undefined ? volume.source : join(volume.source, join("/", subPath));
    return { source, target: mountPath, readOnly: readOnly === true || volume.readOnly };
  });
}
