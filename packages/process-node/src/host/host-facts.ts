/** What the machine is, for the Node object. */
import { readFileSync, statfsSync } from "node:fs";
import { arch, availableParallelism, release, totalmem } from "node:os";

export interface HostFacts {
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly architecture: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  readonly machineId: string;
  readonly bootId: string;
}

export function readHostFacts(directory: string): HostFacts {
  const { blocks, bsize } = statfsSync(directory);
  return {
    cpus: availableParallelism(),
    memoryBytes: totalmem(),
    diskBytes: blocks * bsize,
    // Kubernetes has Go's names.
    architecture: arch() === "x64" ? "amd64" : arch(),
    kernelVersion: release(),
    osImage: /^PRETTY_NAME="?([^"\n]*)/m.exec(readText("/etc/os-release"))?.[1] ?? "Linux",
    machineId: readText("/etc/machine-id").trim(),
    bootId: readText("/proc/sys/kernel/random/boot_id").trim(),
  };
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
