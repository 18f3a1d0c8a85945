/** Files, devices and settings of the host that a container must not open. */
import { type Act, allowed, type Attempt, denied } from "./act.ts";
import { errorCode, type PodFiles, type ProbedPod } from "./probed-pod.ts";

const noHostPath = "mount no folder of the host (hostPath): Pod Security baseline refuses it";
const notPrivileged = "do not run privileged, and keep the masked paths of the runtime: Pod Security baseline";
const readOnly = "set readOnlyRootFilesystem: true, and runAsNonRoot: true";

const hostFolders = ["/etc/kubernetes", "/var/lib/kubelet", "/var/lib/etcd", "/var/lib/rancher", "/var/lib/docker"];
const sockets = [
  ...["/run/containerd/containerd.sock", "/run/crio/crio.sock", "/run/docker.sock", "/var/run/docker.sock"],
  "/var/lib/kubelet/pod-resources/kubelet.sock",
];
const memoryFiles = ["/proc/kcore", "/dev/mem", "/dev/kmem", "/dev/port"];
const settings = ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/panic_on_oom"];
const deviceFolder = "/dev";
const daemons: ReadonlySet<string> = new Set(["kubelet", "containerd", "dockerd", "crio", "kthreadd", "systemd"]);

interface FileAct extends Omit<Act, "attempt" | "group"> {
  attempt(this: void, files: PodFiles, pod: ProbedPod): Promise<Attempt>;
}

/** Tries all paths; the act is allowed when one of them can be used. */
async function anyOf(paths: readonly string[], use: (path: string) => Promise<unknown>): Promise<Attempt> {
  const refusals: string[] = [];
  for (const path of paths) {
    try {
      await use(path);
      return allowed(`${path} can be used`);
    } catch (error) {
      refusals.push(`${path}: ${errorCode(error)}`);
    }
  }
  return denied(refusals.join(", "));
}

async function seesHost(files: PodFiles): Promise<Attempt> {
  const ids = (await files.list("/proc")).filter((each) => /^\d+$/.test(each));
  const names = await Promise.all(ids.map((id) => files.read(`/proc/${id}/comm`).catch(() => "")));
  const seen = names.map((each) => each.trim()).find((each) => daemons.has(each));
  return seen === undefined
    ? denied(`the pod sees ${ids.length} processes, none of the node`)
    : allowed(`the pod sees the process "${seen}" of the node`);
}

async function opensDevices(files: PodFiles): Promise<Attempt> {
  const devices = await files.blockDevices(deviceFolder);
  if (devices.length === 0) return denied("the pod has no block device");
  return anyOf(devices, (path) => files.open(path, "read"));
}

/** Of the second version, or the first, where each controller has a tree. */
const controlGroups = ["/sys/fs/cgroup", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/cpu"];

/** Above the trees of the first version lies an ordinary folder, which limits nothing. */
async function createsControlGroup(files: PodFiles): Promise<Attempt> {
  const isTree = (folder: string): Promise<boolean> =>
    files.read(`${folder}/cgroup.procs`).then(
      () => true,
      () => false,
    );
  const found = await Promise.all(controlGroups.map(isTree));
  const trees = controlGroups.filter((_, at) => found[at]);
  if (trees.length === 0) return denied("the pod sees no control group");
  return anyOf(trees, (folder) => files.create(`${folder}/compliance-probe`, "folder"));
}

const acts: readonly FileAct[] = [
  {
    name: "root-write",
    severity: "low",
    tries: "write to the root file system",
    because: "an attacker keeps tools there, and replaces programs of the image",
    remedy: readOnly,
    attempt: (files) => anyOf(["/", "/usr", "/etc"], (folder) => files.create(`${folder}/compliance-probe`, "file")),
  },
  {
    name: "host-files",
    severity: "high",
    tries: "read folders of the kubelet and of the control plane",
    because: "they have the tokens and Secrets of all pods of the node",
    remedy: noHostPath,
    attempt: (files) => anyOf(hostFolders, (path) => files.list(path)),
  },
  {
    name: "runtime-socket",
    severity: "high",
    tries: "connect to the socket of a container runtime",
    because: "who can do that is root of the node",
    remedy: noHostPath,
    attempt: (files) => anyOf(sockets, (path) => files.connectToSocket(path)),
  },
  {
    name: "host-processes",
    severity: "high",
    tries: "see processes of the host in /proc",
    because: "their arguments and environments have secrets, and they can be attacked",
    remedy: "do not set hostPID: Pod Security baseline refuses it",
    attempt: seesHost,
  },
  {
    name: "kernel-memory",
    severity: "high",
    tries: "open the memory of the kernel",
    because: "it has the secrets of all processes",
    remedy: notPrivileged,
    attempt: (files) => anyOf(memoryFiles, (path) => files.open(path, "read")),
  },
  {
    name: "host-devices",
    severity: "high",
    tries: "open a disk of the host",
    because: "a disk has the files of the node and of other pods",
    remedy: notPrivileged,
    attempt: opensDevices,
  },
  {
    name: "sysctl-write",
    severity: "high",
    tries: "open settings of the kernel for writing",
    because: "core_pattern runs a program as root of the node",
    remedy: notPrivileged,
    attempt: (files) => anyOf(settings, (path) => files.open(path, "write")),
  },
  {
    name: "sysrq",
    severity: "high",
    tries: "open /proc/sysrq-trigger for writing",
    because: "one letter restarts the node",
    remedy: notPrivileged,
    attempt: (files) => anyOf(["/proc/sysrq-trigger"], (path) => files.open(path, "write")),
  },
  {
    name: "uevent-helper",
    severity: "high",
    tries: "open the helper program of the kernel for writing",
    because: "the kernel runs that program as root of the node",
    remedy: notPrivileged,
    attempt: (files) =>
      anyOf(["/sys/kernel/uevent_helper", "/sys/kernel/profiling"], (path) => files.open(path, "write")),
  },
  {
    name: "cgroup-write",
    severity: "medium",
    tries: "create a control group",
    because: "limits are control groups, and a release agent runs as root of the node",
    remedy: notPrivileged,
    attempt: createsControlGroup,
  },
];

export const fileActs: readonly Act[] = acts.map(({ attempt, ...facts }) => ({
  ...facts,
  group: "files",
  attempt: (pod) => attempt(pod.files, pod),
}));
