/** Linux capabilities by the names that pods use, and what a container has unless its pod says otherwise. */

/** As of container engines; they hold in the pod's own user namespace only. */
export const defaultCapabilities: readonly string[] = [
  "CAP_AUDIT_WRITE",
  "CAP_CHOWN",
  "CAP_DAC_OVERRIDE",
  "CAP_FOWNER",
  "CAP_FSETID",
  "CAP_KILL",
  "CAP_MKNOD",
  "CAP_NET_BIND_SERVICE",
  "CAP_NET_RAW",
  "CAP_SETFCAP",
  "CAP_SETGID",
  "CAP_SETPCAP",
  "CAP_SETUID",
  "CAP_SYS_CHROOT",
];

export const allCapabilities: readonly string[] = [
  ...defaultCapabilities,
  "CAP_AUDIT_CONTROL",
  "CAP_AUDIT_READ",
  "CAP_BLOCK_SUSPEND",
  "CAP_BPF",
  "CAP_CHECKPOINT_RESTORE",
  "CAP_DAC_READ_SEARCH",
  "CAP_IPC_LOCK",
  "CAP_IPC_OWNER",
  "CAP_LEASE",
  "CAP_LINUX_IMMUTABLE",
  "CAP_MAC_ADMIN",
  "CAP_MAC_OVERRIDE",
  "CAP_NET_ADMIN",
  "CAP_NET_BROADCAST",
  "CAP_PERFMON",
  "CAP_SYSLOG",
  "CAP_SYS_ADMIN",
  "CAP_SYS_BOOT",
  "CAP_SYS_MODULE",
  "CAP_SYS_NICE",
  "CAP_SYS_PACCT",
  "CAP_SYS_PTRACE",
  "CAP_SYS_RAWIO",
  "CAP_SYS_RESOURCE",
  "CAP_SYS_TIME",
  "CAP_SYS_TTY_CONFIG",
  "CAP_WAKE_ALARM",
];

/** The capabilities that one entry of a pod names: `ALL` names every one. */
export function capabilityNames(name: string): readonly string[] {
  const upper = name.toUpperCase();
  if (upper === "ALL") return allCapabilities;
  return [upper.startsWith("CAP_") ? upper : `CAP_${upper}`];
}
