/**
 * The user, groups and rights of a container, from the pod's and its own securityContext and the users of the
 * image.
 */
import type { Container, Pod } from "@setpoint/api";
import type { ContainerSecurity } from "../sandbox/container-runtime.ts";
import { nodeError } from "../errors.ts";
import type { LocalImage } from "../images/image.ts";
import { configuredUser, imageGroups, imageUser } from "../images/image-users.ts";
import { capabilityNames, defaultCapabilities } from "../sandbox/capabilities.ts";
import { podIdentity } from "../cluster/pod.ts";

export interface ContainerIdentity {
  readonly user: number;
  readonly group: number;
  readonly security: ContainerSecurity;
}

/**
 * The user and group of the pod's first container, which stand for all of it where a pod can have one of
 * each.
 */
export function podUser({ spec }: Pod): { readonly user: number; readonly group: number } {
  const { runAsUser = 0, runAsGroup = 0 } = { ...spec.securityContext, ...spec.containers[0]?.securityContext };
  return { user: runAsUser, group: runAsGroup };
}

/** Throws ERR_CONTAINER_CONFIG when the pod forbids the user that the container would have. */
export function containerIdentity(
  pod: Pod,
  container: Container,
  { rootDirectory: imageRoot, config }: Pick<LocalImage, "rootDirectory" | "config">,
): ContainerIdentity {
  const own = container.securityContext ?? {};
  const pods = pod.spec.securityContext ?? {};
  const asked = own.runAsUser ?? pods.runAsUser;
  const mustNotBeRoot = (own.runAsNonRoot ?? pods.runAsNonRoot) === true;
  if (mustNotBeRoot && asked === undefined) refuseNamedUser(pod, container, config.user ?? "");
  const configured = asked === undefined ? configuredUser(imageRoot, config.user ?? "0") : undefined;
  const user = asked ?? configured?.user ?? 0;
  if (mustNotBeRoot && user === 0) throw runsAsRoot(pod, container);
  const known = imageUser(imageRoot, user);
  return {
    user,
    group: own.runAsGroup ?? pods.runAsGroup ?? configured?.group ?? known?.group ?? 0,
    security: {
      capabilities: containerCapabilities(own.capabilities ?? {}),
      noNewPrivileges: own.allowPrivilegeEscalation === false,
      ...(own.privileged === true && { isPrivileged: true }),
      seccomp: (own.seccompProfile ?? pods.seccompProfile)?.type === "Unconfined" ? "unconfined" : "default",
      supplementalGroups: supplementalGroups(pod, imageRoot, known?.name),
    },
  };
}

/** Drops first: `drop: [ALL]` with `add` leaves what is added. */
export function containerCapabilities({
  add = [],
  drop = [],
}: NonNullable<NonNullable<Container["securityContext"]>["capabilities"]>): readonly string[] {
  const dropped = new Set(drop.flatMap(capabilityNames));
  const kept = defaultCapabilities.filter((name) => !dropped.has(name));
  return [...new Set([...kept, ...add.flatMap(capabilityNames)])].sort();
}

function supplementalGroups({ spec }: Pod, imageRoot: string, userName: string | undefined): readonly number[] {
  const { supplementalGroups: asked = [], supplementalGroupsPolicy, fsGroup } = spec.securityContext ?? {};
  const isMerged = supplementalGroupsPolicy !== "Strict" && userName !== undefined;
  const known = isMerged ? imageGroups(imageRoot, userName) : [];
  return [...new Set([...known, ...asked, ...(fsGroup === undefined ? [] : [fsGroup])])];
}

/** As upstream: the node does not look a name up to find out whether it is root. */
function refuseNamedUser(pod: Pod, container: Container, configured: string): void {
  const [name = ""] = configured.split(":");
  if (/^\d*$/.test(name)) return;
  const where = `(pod: "${podIdentity(pod).name}", container: ${container.name})`;
  const message = `container has runAsNonRoot and image has non-numeric user (${name}), cannot verify user is non-root ${where}`;
  throw nodeError("ERR_CONTAINER_CONFIG", message);
}

function runsAsRoot(pod: Pod, container: Container): Error {
  const where = `(pod: "${podIdentity(pod).name}", container: ${container.name})`;
  return nodeError("ERR_CONTAINER_CONFIG", `container has runAsNonRoot and image will run as root ${where}`);
}
