/** System calls that a container must not be able to make. */
import { type Act, allowed, type Attempt, denied, untried } from "./act.ts";
import { errorCode, type ProbedPod, type SystemCall } from "./probed-pod.ts";

const dropAll = "drop all capabilities, and run as another user than 0: Pod Security restricted";
const seccomp = "set seccompProfile.type: RuntimeDefault: Pod Security restricted";

/** The numbers of Linux. */
const flags = {
  inet: 2,
  packet: 17,
  raw: 3,
  icmp: 1,
  privateMount: 1 << 18,
  newMounts: 0x20000,
  newUser: 0x10000000,
  childSignal: 17,
  seize: 0x4206,
  nextProgram: 11,
  keyringId: 0,
  userSession: -5,
  bufferSize: 10,
  here: -100,
  blockDevice: 0o60600,
  firstDisk: 0x800,
};

/** Eight bytes of type 1, as ext4 has them: the kernel looks at the form before it looks at the rights. */
const someHandle = `\u0008\0\0\0\u0001\0\0\0${"\0".repeat(8)}`;

/** Refusals; any other error comes from a call that was permitted and had arguments without sense. */
const refusals: ReadonlySet<string> = new Set(["EPERM", "EACCES", "ENOSYS", "EOPNOTSUPP", "ENOSPC", "EUSERS"]);

interface CallAct extends Omit<Act, "attempt" | "group"> {
  readonly call: SystemCall;
}

async function attemptCall(pod: ProbedPod, call: SystemCall): Promise<Attempt> {
  const answer = await pod.call(call);
  if (answer === undefined) return untried("the Node of the image has no module node:ffi");
  const { error, result } = answer;
  if (error !== undefined && refusals.has(error)) return denied(`${call.name}: ${error}`);
  return allowed(error === undefined ? `${call.name} returned ${result}` : `${call.name} is permitted: ${error}`);
}

const calls: readonly CallAct[] = [
  {
    name: "mount",
    severity: "high",
    tries: "change a mount",
    because: "mounts hide and uncover files of the node",
    remedy: dropAll,
    call: { name: "mount", arguments: [0, { bytes: "/" }, 0, flags.privateMount, 0] },
  },
  {
    name: "unshare-mounts",
    severity: "high",
    tries: "create a mount namespace",
    because: "it is the first step out of a container",
    remedy: dropAll,
    call: { name: "unshare", arguments: [flags.newMounts] },
  },
  {
    name: "unshare-users",
    severity: "medium",
    tries: "create a user namespace",
    because: "inside of it a process has all capabilities, and most holes of the kernel need one",
    remedy: seccomp,
    call: { name: "clone", arguments: [flags.newUser + flags.childSignal, 0, 0, 0, 0] },
  },
  {
    name: "ptrace",
    severity: "low",
    tries: "attach to another process of the container",
    because: "a process that was broken into reads the memory of its neighbours",
    remedy: "set kernel.yama.ptrace_scope=1 on nodes, or a seccomp profile without ptrace",
    call: { name: "ptrace", arguments: [flags.seize, "parent", 0, 0] },
  },
  {
    name: "raw-socket",
    severity: "medium",
    tries: "open a raw IP socket",
    because: "it sends packets with a false source address",
    remedy: dropAll,
    call: { name: "socket", arguments: [flags.inet, flags.raw, flags.icmp] },
  },
  {
    name: "packet-socket",
    severity: "medium",
    tries: "open a packet socket",
    because: "it reads and forges traffic of the network, such as answers of the DNS",
    remedy: dropAll,
    call: { name: "socket", arguments: [flags.packet, flags.raw, 0] },
  },
  {
    name: "kernel-module",
    severity: "high",
    tries: "load a kernel module",
    because: "a module is the kernel",
    remedy: dropAll,
    call: { name: "init_module", arguments: [0, 0, { bytes: "" }] },
  },
  {
    name: "bpf",
    severity: "high",
    tries: "list the BPF programs of the node",
    because: "BPF programs see and change what all processes do",
    remedy: dropAll,
    call: { name: "bpf", arguments: [flags.nextProgram, { bytes: "\0".repeat(16) }, 16] },
  },
  {
    name: "kernel-keys",
    severity: "low",
    tries: "use the key ring of the kernel",
    because: "key rings are shared by containers of one user",
    remedy: seccomp,
    call: { name: "keyctl", arguments: [flags.keyringId, flags.userSession, 0] },
  },
  {
    name: "kernel-log",
    severity: "low",
    tries: "read the log of the kernel",
    because: "it has addresses of the kernel and names of other pods",
    remedy: seccomp,
    call: { name: "syslog", arguments: [flags.bufferSize, 0, 0] },
  },
  {
    name: "file-handle",
    severity: "high",
    tries: "open a file by its handle",
    because: "handles reach every file of the disk, past all mounts",
    remedy: dropAll,
    call: { name: "open_by_handle_at", arguments: [flags.here, { bytes: someHandle }, 0] },
  },
];

/** User 0 of a user namespace is another user on the node. */
async function becomesRoot(pod: ProbedPod): Promise<Attempt> {
  const map = await pod.files.read("/proc/self/uid_map").catch(() => "");
  const [, outside = "0"] = map.trim().split(/\s+/);
  if (outside !== "0") return denied(`user 0 of the pod is user ${outside} of the node`);
  if (pod.userId === 0) return allowed("the pod runs as user 0, which is root of the node");
  return attemptCall(pod, { name: "setuid", arguments: [0] });
}

async function makesDevice(pod: ProbedPod): Promise<Attempt> {
  const path = `${pod.scratch}/compliance-probe-disk`;
  const made = await attemptCall(pod, {
    name: "mknodat",
    arguments: [flags.here, { bytes: path }, flags.blockDevice, flags.firstDisk],
  });
  if (made.verdict !== "Allowed") return made;
  try {
    await pod.files.open(path, "read");
    return allowed("a device file of a disk can be created and opened");
  } catch (error) {
    return denied(`a device file can be created and not be opened: ${errorCode(error)}`);
  } finally {
    await pod.files.remove(path);
  }
}

/** Bits of `CapEff` that no workload needs; the others are those that runtimes give by default. */
const strong: Readonly<Record<string, number>> = {
  ...{ DAC_READ_SEARCH: 2, NET_ADMIN: 12, SYS_MODULE: 16, SYS_RAWIO: 17, SYS_PTRACE: 19, SYS_ADMIN: 21 },
  ...{ SYS_BOOT: 22, SYS_TIME: 25, MAC_ADMIN: 33, SYSLOG: 34, BPF: 39 },
};

async function hasCapabilities({ files }: ProbedPod): Promise<Attempt> {
  const [, hex = "0"] = /CapEff:\s*([0-9a-f]+)/.exec(await files.read("/proc/self/status")) ?? [];
  const bits = BigInt(`0x${hex}`);
  const held = Object.keys(strong).filter((name) => ((bits >> BigInt(strong[name] ?? 0)) & 1n) === 1n);
  return held.length === 0 ? denied(`the process has the capabilities 0x${hex}`) : allowed(`it has ${held.join(", ")}`);
}

async function mayGainPrivileges({ files }: ProbedPod): Promise<Attempt> {
  const status = await files.read("/proc/self/status");
  return /NoNewPrivs:\s*1/.test(status)
    ? denied("the kernel has no_new_privs for the process")
    : allowed("the kernel has no no_new_privs for the process");
}

const others: readonly Omit<Act, "group">[] = [
  {
    name: "become-root",
    severity: "high",
    tries: "become user 0",
    because: "root of the container is root of the node as soon as it gets out",
    remedy: "set runAsNonRoot: true, or hostUsers: false",
    attempt: becomesRoot,
  },
  {
    name: "new-privileges",
    severity: "medium",
    tries: "gain privileges by a set-user-ID program",
    because: "one such program in the image makes an ordinary user root",
    remedy: "set allowPrivilegeEscalation: false: Pod Security restricted",
    attempt: mayGainPrivileges,
  },
  {
    name: "capabilities",
    severity: "high",
    tries: "hold a capability that is as strong as root",
    because: "each of them leads to the node",
    remedy: dropAll,
    attempt: hasCapabilities,
  },
  {
    name: "device-create",
    severity: "high",
    tries: "create a device file and open it",
    because: "a device file of the disk of the node has all of its files",
    remedy: dropAll,
    attempt: makesDevice,
  },
];

export const kernelActs: readonly Act[] = [
  ...calls.map(({ call, ...facts }): Act => ({
    ...facts,
    group: "kernel",
    attempt: (pod) => attemptCall(pod, call),
  })),
  ...others.map((each): Act => ({ ...each, group: "kernel" })),
];
