/**
 * The mounts of a container in the order in which the runtime makes them. With `idmap` what keeps its own
 * ids on disk (images, persistent volumes) is mounted through the pod's id range, so a file of user 0 belongs
 * to user 0 of the pod.
 */
import { join } from "node:path/posix";
import type { Mount } from "./container-runtime.ts";
import type { MountPoint } from "./root-layout.ts";

export interface OciMount {
  readonly destination: string;
  readonly type: string;
  readonly source: string;
  readonly options: readonly string[];
}

const sharedMemoryBytes = 64 * 1024 * 1024;
/** Of /tmp and of /var/tmp. */
const temporaryBytes = 256 * 1024 * 1024;

export function imageMounts(root: string, binds: readonly MountPoint[], idmap: readonly string[]): OciMount[] {
  const options = ["rbind", "ro", "nodev", ...idmap];
  return binds.map(({ path }) => ({ destination: path, type: "bind", source: join(root, path), options }));
}

export interface KernelMountOptions {
  readonly readOnlyRoot: boolean;
  readonly isPrivileged: boolean;
  /** Whether the pod has the host's shared memory. */
  readonly sharesIpc: boolean;
  /** Whether containers have control groups here. */
  readonly hasCgroups: boolean;
}

/**
 * What every container has of the kernel; /proc shows its own processes, and the host's devices are six
 * harmless ones unless it is privileged.
 */
export function kernelMounts(options: KernelMountOptions): OciMount[] {
  const { readOnlyRoot, isPrivileged, sharesIpc, hasCgroups } = options;
  const tmpfs = (destination: string, ...options: readonly string[]): OciMount => ({
    destination,
    type: "tmpfs",
    source: "tmpfs",
    options: ["nosuid", "nodev", ...options],
  });
  return [
    { destination: "/proc", type: "proc", source: "proc", options: ["nosuid", "noexec", "nodev"] },
    { destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid", "mode=755", "size=65536k"] },
    {
      destination: "/dev/pts",
      type: "devpts",
      source: "devpts",
      options: ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"],
    },
    sharesIpc
      ? { destination: "/dev/shm", type: "bind", source: "/dev/shm", options: ["rbind", "rw", "nosuid", "nodev"] }
      : tmpfs("/dev/shm", "noexec", "mode=1777", `size=${sharedMemoryBytes}`),
    { destination: "/dev/mqueue", type: "mqueue", source: "mqueue", options: ["nosuid", "noexec", "nodev"] },
    ...(isPrivileged
      ? [{ destination: "/sys", type: "bind", source: "/sys", options: ["rbind", "rw", "nosuid"] }]
      : ownCgroups(hasCgroups)),
    // With a read-only root they are ordinary folders of it, as in any image.
    ...(readOnlyRoot ? [] : ["/tmp", "/var/tmp"].map((folder) => tmpfs(folder, "mode=1777", `size=${temporaryBytes}`))),
  ];
}

/** The container's own control groups, where runtimes of languages read how much they may use. */
function ownCgroups(hasCgroups: boolean): readonly OciMount[] {
  if (!hasCgroups) return [];
  const options = ["nosuid", "noexec", "nodev", "relatime", "ro"];
  return [{ destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options }];
}

export function volumeMount(mount: Mount, target: string, source: string, idmap: readonly string[]): OciMount {
  const access = mount.readOnly === true ? "ro" : "rw";
  const ids = mount.ownIds === true ? idmap : [];
  const devices = mount.hasDevices === true ? [] : ["nodev"];
  return { destination: target, type: "bind", source, options: ["rbind", access, ...devices, "rprivate", ...ids] };
}
