/** The numbers of system calls, which differ between processors. */
import type { SystemCallName } from "../acts/probed-pod.ts";

type Call = SystemCallName | "exit_group" | "wait4";

/** From the kernel's tables: x86-64, and the generic one, which arm64 uses. */
const numbers: Readonly<Record<Call, readonly [x64: number, arm64: number]>> = {
  bpf: [321, 280],
  clone: [56, 220],
  exit_group: [231, 94],
  init_module: [175, 105],
  keyctl: [250, 219],
  mknodat: [259, 33],
  mount: [165, 40],
  open_by_handle_at: [304, 265],
  ptrace: [101, 117],
  setuid: [105, 146],
  socket: [41, 198],
  syslog: [103, 116],
  unshare: [272, 97],
  wait4: [61, 260],
};

/** Throws for a processor without a table. */
export function numberOf(name: Call): number {
  const [x64, arm64] = numbers[name];
  if (process.arch === "x64") return x64;
  if (process.arch === "arm64") return arm64;
  throw new Error(`Cannot call the kernel on "${process.arch}": expected x64 or arm64`);
}
