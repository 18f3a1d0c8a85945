/** What a control group has used, from the kernel's own counts. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Processor time since the group was made, and memory now. */
export interface GroupUsage {
  readonly cpuNanos: number;
  readonly memoryBytes: number;
  /** Without what the kernel drops first when memory gets short: what a kubelet compares with limits. */
  readonly workingSetBytes: number;
}

/** `group` is the path below the mounts of `root`. Undefined when there is no such group, or no longer. */
export async function readGroupUsage(
  root: string,
  version: 1 | 2 | "none",
  group: string,
): Promise<GroupUsage | undefined> {
  if (version === "none") return undefined;
  try {
    return version === 2 ? await readVersion2(join(root, group)) : await readVersion1(root, group);
  } catch (error) {
    const { code } = error as { code?: unknown };
    // ENODEV: the group was removed while it was read.
    if (code === "ENOENT" || code === "ENODEV") return undefined;
    throw error;
  }
}

async function readVersion2(folder: string): Promise<GroupUsage> {
  const [cpu, current, memory] = await Promise.all([
    text(folder, "cpu.stat"),
    text(folder, "memory.current"),
    text(folder, "memory.stat"),
  ]);
  return usage(lineOf(cpu, "usage_usec") * 1_000, Number(current), lineOf(memory, "inactive_file"));
}

async function readVersion1(root: string, group: string): Promise<GroupUsage> {
  const memoryFolder = join(root, "memory", group);
  const [cpu, current, memory] = await Promise.all([
    text(join(root, "cpuacct", group), "cpuacct.usage"),
    text(memoryFolder, "memory.usage_in_bytes"),
    text(memoryFolder, "memory.stat"),
  ]);
  return usage(Number(cpu), Number(current), lineOf(memory, "total_inactive_file"));
}

function usage(cpuNanos: number, memoryBytes: number, inactiveBytes: number): GroupUsage {
  return { cpuNanos, memoryBytes, workingSetBytes: Math.max(0, memoryBytes - inactiveBytes) };
}

function text(folder: string, file: string): Promise<string> {
  return readFile(join(folder, file), "utf8");
}

/** The number after `name` at the start of a line; 0 without such a line. */
function lineOf(lines: string, name: string): number {
  const line = lines.split("\n").find((each) => each.startsWith(`${name} `));
  return line === undefined ? 0 : Number(line.slice(name.length + 1));
}
