/**
 * The init containers that copy a survivor's data aside before it starts alone, and that remove the copy;
 * pure.
 */
import type { Pod } from "setpoint/kinds";
import { podProblem } from "setpoint/pods";

type Container = NonNullable<Pod["spec"]>["containers"][number];

const copyName = "copy-aside";
const removeName = "remove-copies";
/** All copies of a volume. */
const copiesFolder = "before-recovery";
const resources = { requests: { cpu: "50m", memory: "128Mi" }, limits: { cpu: "1", memory: "512Mi" } };

export const copyAsideCommand = "copy-aside";
export const removeCopiesCommand = "remove-copies";

/** Where a pod with a copy keeps it. */
export function copyFolder(dataPath: string, token: string): string {
  return `${dataPath}/${copiesFolder}/${token}`;
}

/** The pod with a container before all others that copies the member's data. */
export function copyingFirst(pod: Pod, image: string, token: string): Pod {
  return withInit(pod, copyName, image, (path) => [copyAsideCommand, `${path}/member-data`, copyFolder(path, token)]);
}

/** The pod with a container before all others that removes copies. */
export function removingCopies(pod: Pod, image: string): Pod {
  return withInit(pod, removeName, image, (path) => [removeCopiesCommand, `${path}/${copiesFolder}`]);
}

function withInit(pod: Pod, name: string, image: string, argsFor: (dataPath: string) => readonly string[]): Pod {
  const { imagePullPolicy, securityContext, terminationMessagePolicy, volumeMounts = [] } = etcdContainer(pod) ?? {};
  const data = volumeMounts.filter((mount) => mount.name === "data");
  const args = [...argsFor(data[0]?.mountPath ?? "")];
  const common = { imagePullPolicy, resources, securityContext, terminationMessagePolicy, volumeMounts: data };
  const container = { name, image, args, ...common };
  return { ...pod, spec: { ...pod.spec, initContainers: [container] } } as Pod;
}

function etcdContainer(pod: Pod): Container | undefined {
  return pod.spec?.containers.find(({ name }) => name === "etcd");
}

/** How a container of these ended; undefined while it has not. */
function endOf(
  pod: Pod | undefined,
  name: string,
): { readonly exitCode: number; readonly message?: string } | undefined {
  return pod?.status?.initContainerStatuses?.find((each) => each.name === name)?.state?.terminated;
}

/** Why the copy could not be made. */
export function copyProblem(pod: Pod | undefined): string | undefined {
  const end = endOf(pod, copyName);
  if (pod === undefined || end === undefined || end.exitCode === 0) return undefined;
  return podProblem(pod)?.message ?? `its container ended with exit code ${end.exitCode}`;
}

/** The copy that a pod made, or found, before it started. */
export function copyMade(pod: Pod | undefined): { readonly folder: string; readonly bytes: number } | undefined {
  const end = endOf(pod, copyName);
  const folder = pod?.spec?.initContainers?.find(({ name }) => name === copyName)?.args?.[2];
  if (end?.exitCode !== 0 || folder === undefined) return undefined;
  return { folder, bytes: Number(/"bytes":(\d+)/.exec(end.message ?? "")?.[1] ?? 0) };
}

/** Whether the pod copies its data before it starts. */
export function copiesFirst(pod: Pod | undefined): boolean {
  return hasContainer(pod, copyName);
}

/** Whether the pod removes copies before it starts. */
export function removesCopies(pod: Pod | undefined): boolean {
  return hasContainer(pod, removeName);
}

function hasContainer(pod: Pod | undefined, name: string): boolean {
  return pod?.spec?.initContainers?.some((each) => each.name === name) ?? false;
}

/** Whether the pod has removed the copies. */
export function hasRemovedCopies(pod: Pod | undefined): boolean {
  return endOf(pod, removeName)?.exitCode === 0;
}
