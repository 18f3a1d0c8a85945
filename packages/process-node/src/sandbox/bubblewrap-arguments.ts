/** From a container's description to bubblewrap's command line: pure but for looking at the image's folders. */
import { join } from "node:path";
import type { ContainerSpec } from "../container-runtime.ts";
import { composedRootArguments } from "./composed-root.ts";
import { resolveInRoot } from "./root-path.ts";

/** What containers keep of root's rights, as in the default set of container engines that does not reach the host. */
const capabilities = [
  "CAP_CHOWN",
  "CAP_DAC_OVERRIDE",
  "CAP_FOWNER",
  "CAP_FSETID",
  "CAP_KILL",
  "CAP_NET_BIND_SERVICE",
  "CAP_SETGID",
  "CAP_SETUID",
];

export interface SandboxOptions {
  /** Whether the agent is root: then rights are dropped here; otherwise there are none to drop. */
  readonly privileged: boolean;
  /** Where the text files of `spec.files` lie on the host, by target. */
  readonly files: Readonly<Record<string, string>>;
  /** The file descriptor on which bubblewrap reports its child. */
  readonly statusFd: number;
}

export function bubblewrapArguments(spec: ContainerSpec, program: string, options: SandboxOptions): string[] {
  const root = spec.rootDirectory;
  const files = Object.entries(options.files).map(([target, source]) => ({ source, target, readOnly: true }));
  const mounts = [...spec.mounts, ...files].map((mount) => ({ ...mount, target: resolveInRoot(root, mount.target) }));
  // Parents first, so that a volume inside a volume is not hidden.
  mounts.sort((a, b) => a.target.length - b.target.length);
  return [
    "--json-status-fd",
    String(options.statusFd),
    "--die-with-parent",
    "--new-session",
    "--unshare-pid",
    "--unshare-uts",
    "--unshare-ipc",
    "--unshare-cgroup-try",
    "--hostname",
    spec.hostname,
    ...userArguments(spec, options.privileged),
    ...composedRootArguments(
      root,
      mounts.map(({ target }) => target),
    ),
    "--proc",
    "/proc",
    ...deviceArguments(spec, options.privileged),
    ...temporaryFolders(spec),
    ...mounts.flatMap((mount) => [mount.readOnly ? "--ro-bind" : "--bind", mountSource(mount), mount.target]),
    // Only the root itself: volumes are mounts of their own and stay as they are.
    ...(spec.readOnlyRoot === true ? ["--remount-ro", "/"] : []),
    ...(options.privileged ? ["--cap-drop", "ALL", ...keptCapabilities(spec)] : []),
    "--clearenv",
    ...Object.entries(spec.env).flatMap(([name, value]) => ["--setenv", name, value]),
    "--chdir",
    spec.workingDirectory ?? "/",
    "--",
    program,
    ...spec.command.slice(1),
  ];
}

function mountSource({ source, subPath = "" }: ContainerSpec["mounts"][number]): string {
  return join(source, subPath);
}

/** With a read-only root they are ordinary folders of it, as in any image. */
function temporaryFolders({ readOnlyRoot }: ContainerSpec): string[] {
  return ["/tmp", "/var/tmp"].flatMap((folder) => [
    "--perms",
    "1777",
    readOnlyRoot === true ? "--dir" : "--tmpfs",
    folder,
  ]);
}

/** A user other than root has none. */
function keptCapabilities({ runAsUser = 0 }: ContainerSpec): string[] {
  return runAsUser === 0 ? capabilities.flatMap((name) => ["--cap-add", name]) : [];
}

/** Whoever starts it, a container is root of itself unless the pod says otherwise. */
function userArguments({ runAsUser, runAsGroup }: ContainerSpec, privileged: boolean): string[] {
  if (privileged && (runAsUser ?? 0) === 0 && (runAsGroup ?? 0) === 0) return [];
  const user = runAsUser ?? 0;
  return ["--unshare-user", "--uid", String(user), "--gid", String(runAsGroup ?? user)];
}

const devices = ["null", "zero", "full", "random", "urandom", "tty"];
const deviceLinks = {
  fd: "/proc/self/fd",
  stdin: "/proc/self/fd/0",
  stdout: "/proc/self/fd/1",
  stderr: "/proc/self/fd/2",
};

/**
 * bubblewrap's own /dev has terminals. For those it needs root inside, so for another user it makes a second user namespace
 * in the first, which then owns none of the other namespaces: nobody but root could join them for an exec. A plain user's
 * containers of another user do without terminals instead.
 */
function deviceArguments({ runAsUser = 0 }: ContainerSpec, privileged: boolean): string[] {
  if (privileged || runAsUser === 0) return ["--dev", "/dev"];
  return [
    ...["--tmpfs", "/dev"],
    ...devices.flatMap((name) => ["--dev-bind", `/dev/${name}`, `/dev/${name}`]),
    ...Object.entries(deviceLinks).flatMap(([name, target]) => ["--symlink", target, `/dev/${name}`]),
    ...["--perms", "1777", "--dir", "/dev/shm"],
  ];
}
