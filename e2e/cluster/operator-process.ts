/** What the kernel says of the operator's process: what the manifest promises must be so. */
import { readdirSync, readFileSync } from "node:fs";

const program = "/@setpoint/etcd-operator/dist/main.js";

/** Throws when the process runs as root, may write to its root file system, or holds a capability. */
export function checkOperatorProcess(): string {
  const pid = readdirSync("/proc").find((entry) => /^\d+$/.test(entry) && read(entry, "cmdline").includes(program));
  if (pid === undefined) throw new Error("There is no process of the operator");
  const status = read(pid, "status");
  const user = field(status, "Uid").split("\t")[0] ?? "0";
  const capabilities = BigInt(`0x${field(status, "CapEff")}`);
  const isReadOnly = read(pid, "mounts")
    .split("\n")
    .some((line) => /^\S+ \/ \S+ ro[, ]/.test(line));
  const said = `user ${user}, root file system ${isReadOnly ? "read-only" : "writable"}, capabilities ${capabilities}, no new privileges ${field(status, "NoNewPrivs")}`;
  if (user === "0" || capabilities !== 0n || !isReadOnly || field(status, "NoNewPrivs") !== "1")
    throw new Error(`The operator's process has more rights than its manifest says: ${said}`);
  return said;
}

function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return ""; // It ended while we looked.
  }
}

function field(status: string, name: string): string {
  return new RegExp(`^${name}:\\s*(.*)$`, "m").exec(status)?.[1] ?? "";
}
