/** From a container and its pod's sandbox to the configuration that an OCI runtime starts. */
import type { IdRange } from "../host/id-range.ts";
import type { ContainerSpec, Mount, PodSandbox } from "./container-runtime.ts";
import { nodeError } from "../errors.ts";
import { defaultCapabilities } from "./capabilities.ts";
import { hostDevices, type OciDevice } from "./host-devices.ts";
import { isPrivileged } from "./host-rights.ts";
import { imageMounts, kernelMounts, type OciMount, volumeMount } from "./oci-mounts.ts";
import { type OciProcess, ociProcess } from "./oci-process.ts";
import { type OciResources, ociResources } from "./oci-resources.ts";
import { type RootLayout, rootLayout } from "./root-layout.ts";
import { inImage, resolveInRoot } from "../images/root-path.ts";
import { defaultSeccompProfile, type SeccompProfile, unconfinedSeccompProfile } from "./seccomp/default-profile.ts";
import { stagedPath, type StagedPath, stagedRoot } from "./stage.ts";

export interface OciConfig {
  readonly ociVersion: string;
  readonly process: OciProcess;
  readonly root: { readonly path: string; readonly readonly: boolean };
  readonly mounts: readonly OciMount[];
  readonly linux: {
    readonly namespaces: readonly { readonly type: string; readonly path?: string }[];
    readonly uidMappings?: readonly OciIdMapping[];
    readonly gidMappings?: readonly OciIdMapping[];
    readonly devices?: readonly OciDevice[];
    readonly maskedPaths: readonly string[];
    readonly readonlyPaths: readonly string[];
    readonly seccomp?: SeccompProfile;
    readonly resources?: OciResources;
    readonly cgroupsPath?: string;
  };
}

interface OciIdMapping {
  readonly containerID: number;
  readonly hostID: number;
  readonly size: number;
}

export interface OciPlace {
  readonly sandbox: PodSandbox;
  /** Where the root and subPaths are staged; see `stage.ts`. */
  readonly stageDirectory: string;
  /** Where the text files of `spec.files` lie on the host, by target. */
  readonly files: Readonly<Record<string, string>>;
  /** Whether mounts can be shifted into the pod's id range: root may, an ordinary user has no need. */
  readonly shiftIds: boolean;
  /** As Node names it. */
  readonly architecture: string;
  readonly hasCgroups: boolean;
  /** See `isMountedAsFolder`. */
  isFolder(source: string, subPath?: string): boolean;
}

/** Everything that a start needs: the configuration, the skeleton of the root and the paths to stage. */
export interface OciBundle {
  readonly config: OciConfig;
  readonly layout: RootLayout;
  readonly staged: readonly StagedPath[];
}

/** What the kernel tells about the host or lets root change of it. */
const maskedPaths = [
  "/proc/acpi",
  "/proc/asound",
  "/proc/interrupts",
  "/proc/kcore",
  "/proc/keys",
  "/proc/kmsg",
  "/proc/latency_stats",
  "/proc/sched_debug",
  "/proc/scsi",
  "/proc/timer_list",
  "/proc/timer_stats",
];
const readonlyPaths = [
  ...["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"],
  // The folder above the control groups of version 1 is one of the memory's.
  "/sys/fs/cgroup",
];

/** The kernel's own folders: a volume there would hide what protects the host, or be hidden by it. */
const kernelFolders = ["/proc", "/sys"];

interface PlacedMount {
  readonly mount: Mount;
  readonly target: string;
  readonly source: string;
  readonly staged?: StagedPath;
}

/** Throws ERR_CONTAINER_CONFIG for mounts that cannot be made. */
export function ociBundle(spec: ContainerSpec, place: OciPlace): OciBundle {
  const mounts = placedMounts(spec, place);
  const idmap = place.shiftIds && place.sandbox.host === undefined ? [idmapOption(spec, place.sandbox)] : [];
  const { sandbox, hasCgroups } = place;
  const kernel = {
    readOnlyRoot: spec.readOnlyRoot === true,
    isPrivileged: isPrivileged(spec, sandbox),
    sharesIpc: sandbox.host?.ipc === true,
    hasCgroups,
  };
  const mountPoints = mounts
    .filter(({ target }) => !target.startsWith("/dev/") && target !== "/dev")
    .map(({ target, mount }) => ({ path: target, isFolder: place.isFolder(mount.source, mount.subPath) }));
  const layout = inImage(spec.image, () => rootLayout(spec.rootDirectory, mountPoints));
  return {
    layout,
    staged: mounts.flatMap(({ staged }) => (staged === undefined ? [] : [staged])),
    config: ociConfig(spec, place, [
      ...imageMounts(spec.rootDirectory, layout.binds, idmap),
      ...kernelMounts(kernel),
      ...mounts.map(({ mount, target, source }) => volumeMount(mount, target, source, idmap)),
    ]),
  };
}

/**
 * crun reads the pod's range of ids from the container's process, but in a joined process namespace it has
 * the wrong number of that process.
 */
function idmapOption({ joinedProcess }: ContainerSpec, { uids, gids }: PodSandbox): string {
  const range = ({ container, host, size }: IdRange): string => `${container}-${host}-${size}`;
  return joinedProcess === undefined ? "idmap" : `idmap=uids=${range(uids)};gids=${range(gids)}`;
}

function ociConfig(spec: ContainerSpec, place: OciPlace, mounts: readonly OciMount[]): OciConfig {
  const { sandbox } = place;
  return {
    ociVersion: "1.0.2",
    process: ociProcess(spec, spec.command, { tty: spec.tty === true }),
    root: { path: stagedRoot(place.stageDirectory), readonly: spec.readOnlyRoot === true },
    mounts,
    linux: {
      namespaces: containerNamespaces(sandbox, spec.joinedProcess),
      ...(sandbox.host === undefined && {
        uidMappings: [mapping(sandbox.uids)],
        gidMappings: [mapping(sandbox.gids)],
      }),
      ...(isPrivileged(spec, sandbox) ? allOfTheHost(spec) : protection(spec, place.architecture)),
    },
  };
}

type OciRights = Omit<OciConfig["linux"], "namespaces" | "uidMappings" | "gidMappings" | "cgroupsPath">;

function protection({ security, limits }: ContainerSpec, architecture: string): OciRights {
  const { capabilities = defaultCapabilities, seccomp = "default" } = security ?? {};
  return {
    maskedPaths,
    readonlyPaths,
    seccomp:
      seccomp === "default"
        ? defaultSeccompProfile(capabilities, architecture)
        : unconfinedSeccompProfile(architecture),
    ...(limits === undefined ? {} : { resources: ociResources(limits) }),
  };
}

function allOfTheHost({ limits = {} }: ContainerSpec): OciRights {
  const resources = { ...ociResources(limits), devices: [{ allow: true, access: "rwm" }] };
  return { maskedPaths: [], readonlyPaths: [], devices: hostDevices(), resources };
}

/** Processes and mounts are the container's own; the rest it shares with its pod. */
function containerNamespaces(
  { holderPid, networkNamespace, host }: PodSandbox,
  joinedProcess?: number,
): OciConfig["linux"]["namespaces"] {
  const processes = joinedProcess === undefined ? {} : { path: `/proc/${joinedProcess}/ns/pid` };
  const shared = (type: string, name: string) => ({ type, path: `/proc/${holderPid}/ns/${name}` });
  return [
    { type: "mount" },
    ...(host?.pid === true ? [] : [{ type: "pid", ...processes }]),
    { type: "cgroup" },
    ...(host === undefined ? [shared("user", "user")] : []),
    shared("ipc", "ipc"),
    shared("uts", "uts"),
    ...(networkNamespace ? [shared("network", "net")] : []),
  ];
}

/**
 * Volumes and own files with canonical targets, parents first, so that a volume inside a volume is not
 * hidden.
 */
function placedMounts(spec: ContainerSpec, place: OciPlace): PlacedMount[] {
  const files = Object.entries(place.files).map(([target, source]): Mount => ({ source, target, readOnly: true }));
  // A volume at the place of such a file wins.
  const byTarget = new Map<string, PlacedMount>();
  for (const [index, mount] of [...files, ...spec.mounts].entries()) {
    const target = inImage(spec.image, () => resolveInRoot(spec.rootDirectory, mount.target));
    if (!isPrivileged(spec, place.sandbox)) refuseTarget(mount.target, target);
    const staged =
      mount.subPath === undefined ? undefined : { volume: mount.source, path: mount.subPath, name: `sub-${index}` };
    const source = staged === undefined ? mount.source : stagedPath(place.stageDirectory, staged.name);
    byTarget.set(target, { mount, target, source, ...(staged === undefined ? {} : { staged }) });
  }
  return [...byTarget.values()].sort((a, b) => a.target.split("/").length - b.target.split("/").length);
}

function refuseTarget(asked: string, target: string): void {
  const isKernels = kernelFolders.some((folder) => target === folder || target.startsWith(`${folder}/`));
  if (target !== "/" && !isKernels) return;
  const what = target === asked ? "it is" : `it leads to "${target}",`;
  throw nodeError("ERR_CONTAINER_CONFIG", `Cannot mount at "${asked}": ${what} a folder of the node's own`);
}

function mapping({ container, host, size }: IdRange): OciIdMapping {
  return { containerID: container, hostID: host, size };
}
