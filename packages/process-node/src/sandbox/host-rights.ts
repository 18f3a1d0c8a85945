/** What a privileged container has beyond others; its pod has the users of the host. */
import { readFileSync } from "node:fs";
import { allCapabilities } from "./capabilities.ts";
import type { ContainerSpec, PodSandbox } from "./container-runtime.ts";

/** In a pod with users of its own it is root of the pod alone. */
export function isPrivileged(
  { security }: Pick<ContainerSpec, "security">,
  { host }: Pick<PodSandbox, "host">,
): boolean {
  return security?.isPrivileged === true && host !== undefined;
}

/** The container with every capability, if it is privileged; otherwise as it is. */
export function withHostRights(spec: ContainerSpec): ContainerSpec {
  const { security } = spec;
  if (security?.isPrivileged !== true) return spec;
  return { ...spec, security: { ...security, capabilities: heldCapabilities(), noNewPrivileges: false } };
}

/** By the kernel's numbers. */
const numbers: Readonly<Record<string, number>> = Object.fromEntries(
  (
    "CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE " +
    "NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT " +
    "SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL " +
    "SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE"
  )
    .split(" ")
    .map((name, number) => [`CAP_${name}`, number]),
);

/** Those that this process may give: the agent may run in a container itself. */
function heldCapabilities(): readonly string[] {
  const [, hex = "0"] = /^CapBnd:\s*([0-9a-f]+)/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  const held = BigInt(`0x${hex}`);
  return allCapabilities.filter((name) => ((held >> BigInt(numbers[name] ?? 64)) & 1n) === 1n);
}
