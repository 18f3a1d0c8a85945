/** What of its host a pod asks for; `setpoint up --allow-host` gives it, and refuses it otherwise. */
import type { Container, PodSpec } from "@setpoint/api";
import { capabilityNames } from "../sandbox/capabilities.ts";
import type { HostNamespaces } from "../sandbox/container-runtime.ts";

/**
 * The namespaces that the pod shares with the host. A pod with any right over the host has the host's users
 * too, as everywhere: a right in a user namespace of its own would not reach what it asks for.
 */
export function hostNamespaces(spec: PodSpec): HostNamespaces | undefined {
  const { hostIPC: ipc = false, hostNetwork = false, hostPID: pid = false, hostUsers = false } = spec;
  const isAsked = ipc || pid || hostNetwork || hostUsers || mountsHost(spec) || containersOf(spec).some(hasHostRights);
  return isAsked ? { ipc, pid } : undefined;
}

/** Whether the container may change what is outside of its pod. */
export function hasHostRights({ securityContext }: Container): boolean {
  return securityContext?.privileged === true || addsCapability(securityContext, "CAP_SYS_ADMIN");
}

export function addsCapability(context: Container["securityContext"], name: string): boolean {
  return (context?.capabilities?.add ?? []).flatMap(capabilityNames).includes(name);
}

function mountsHost({ volumes = [] }: PodSpec): boolean {
  return volumes.some(({ hostPath }) => hostPath !== undefined);
}

function containersOf({ initContainers = [], containers }: PodSpec): readonly Container[] {
  return [...initContainers, ...containers];
}
