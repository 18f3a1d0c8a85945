/**
 * Settings of the kernel that a pod may change: those of its own namespaces that cost its node nothing and
 * change nothing of other pods. They are the ones that a kubelet allows without being asked to.
 */
import type { PodSpec } from "@setpoint/api";
import type { KernelSetting } from "../sandbox/container-runtime.ts";

const safe: ReadonlySet<string> = new Set([
  "kernel/shm_rmid_forced",
  ...[
    "ip_local_port_range",
    "ip_local_reserved_ports",
    "ip_unprivileged_port_start",
    "ping_group_range",
    "tcp_fin_timeout",
    "tcp_keepalive_intvl",
    "tcp_keepalive_probes",
    "tcp_keepalive_time",
    "tcp_rmem",
    "tcp_syncookies",
    "tcp_wmem",
  ].map((name) => `net/ipv4/${name}`),
]);

export function kernelSettings({ securityContext }: PodSpec): readonly KernelSetting[] {
  return (securityContext?.sysctls ?? []).map(({ name, value }) => ({ path: pathOf(name), value }));
}

export function isSafeSetting({ path }: KernelSetting): boolean {
  return safe.has(path);
}

/** The first separator of a name says which of both it uses. */
function pathOf(name: string): string {
  const [first] = /[./]/.exec(name) ?? [];
  return first === "/" ? name : name.replaceAll(".", "/");
}
