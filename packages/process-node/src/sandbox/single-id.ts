/**
 * The pods of an ordinary user have one user and one group each, because the node has no more than its own to
 * give.
 */
import type { ContainerSpec, PodSandbox } from "./container-runtime.ts";
import { nodeError } from "../errors.ts";

/**
 * The container with a group that its pod has; the kernel gives it no supplementary ones. On the host all of
 * them are the node's user, so no file is out of its reach. Throws ERR_CONTAINER_CONFIG for a user that the
 * pod does not have.
 */
export function withIdsOf({ uids, gids }: Pick<PodSandbox, "uids" | "gids">, spec: ContainerSpec): ContainerSpec {
  if (uids.size > 1) return spec;
  const user = spec.runAsUser ?? 0;
  if (user !== uids.container) throw otherUser(user, uids.container);
  const { security } = spec;
  return {
    ...spec,
    runAsGroup: gids.container,
    ...(security === undefined ? {} : { security: { ...security, supplementalGroups: [] } }),
  };
}

function otherUser(user: number, only: number): Error {
  const reason = `setpoint runs as an ordinary user, and all containers of this pod run as user ${only}`;
  const advice = `use one runAsUser for the pod, or run "setpoint up" as root`;
  return nodeError("ERR_CONTAINER_CONFIG", `Cannot run container as user ${user}: ${reason}; ${advice}`);
}
