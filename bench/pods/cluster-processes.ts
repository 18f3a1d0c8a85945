/** The processes of one cluster: which they are, what memory they hold, what processor time they took. */
import { readdirSync, readFileSync } from "node:fs";
import { commandLine } from "../../e2e/processes.ts";

/** In a PID namespace of its own every process is one of the cluster; elsewhere a folder tells them. */
export type WhichProcesses = { readonly kind: "namespace" } | { readonly kind: "folder"; readonly folder: string };

export interface ProgramMemory {
  readonly program: string;
  readonly processes: number;
  /** What it shares with others counted in parts. */
  readonly pssMb: number;
}

export interface ClusterMemory {
  readonly processes: number;
  readonly pssMb: number;
  readonly rssMb: number;
  /** The largest first. */
  readonly programs: readonly ProgramMemory[];
  /** What the machine has left, which counts the kernel's own memory, too. */
  readonly machineAvailableMb: number;
}

interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly program: string;
  /** Ended, and nobody has asked how: it has no memory any more. */
  readonly isZombie: boolean;
  /** Its own, and that of children that it has waited for. */
  readonly cpuSeconds: number;
}

/** USER_HZ, the same on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** Processor time of all of them, ended ones in their parents; what ended without a parent is missing. */
export function cpuSeconds(which: WhichProcesses): number {
  return clusterProcesses(which).reduce((sum, each) => sum + each.cpuSeconds, 0);
}

export function memory(which: WhichProcesses): ClusterMemory {
  const living = clusterProcesses(which).filter(({ isZombie }) => !isZombie);
  const all = living.map((each) => ({ ...each, ...residentMb(each.pid) }));
  const byProgram = Object.entries(Object.groupBy(all, ({ program }) => program));
  const programs = byProgram.map(([program, own = []]) => ({
    program,
    processes: own.length,
    pssMb: sum(own.map(({ pssMb }) => pssMb)),
  }));
  return {
    processes: all.length,
    pssMb: sum(all.map(({ pssMb }) => pssMb)),
    rssMb: sum(all.map(({ rssMb }) => rssMb)),
    programs: programs.toSorted((a, b) => b.pssMb - a.pssMb),
    machineAvailableMb: field(readFileSync("/proc/meminfo", "utf8"), "MemAvailable"),
  };
}

/** Seconds in which the processors of the machine worked, for whatever. */
export function machineBusySeconds(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] =
    /^cpu +(.*)/.exec(readFileSync("/proc/stat", "utf8"))?.[1]?.split(" ").map(Number) ?? [];
  return (user + nice + system + irq + softIrq) / ticksPerSecond;
}

function clusterProcesses(which: WhichProcesses): readonly ProcessStat[] {
  const all = readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map((entry) => processStat(Number(entry)))
    .filter((each) => each !== undefined);
  // The first process of the namespace is the session, this one measures.
  if (which.kind === "namespace") return all.filter(({ pid }) => pid !== 1 && pid !== process.pid);
  const children = Map.groupBy(all, ({ parent }) => parent);
  const found = new Set<ProcessStat>();
  const add = (each: ProcessStat): void => {
    if (each.pid === process.pid || found.has(each)) return;
    found.add(each);
    for (const child of children.get(each.pid) ?? []) add(child);
  };
  for (const each of all) if (commandLine(each.pid).includes(which.folder)) add(each);
  return [...found];
}

function processStat(pid: number): ProcessStat | undefined {
  const [, program = "", rest = ""] = /^\d+ \((.*)\) (.*)$/s.exec(read(`/proc/${pid}/stat`)) ?? [];
  if (rest === "") return undefined;
  // From the third on, the state: the parent is the fourth, the four times are 14 to 17.
  const [state, ...fields] = rest.split(" ");
  const numbers = fields.map(Number);
  const cpu = sum(numbers.slice(10, 14)) / ticksPerSecond;
  return { pid, parent: numbers[0] ?? 0, program, isZombie: state === "Z", cpuSeconds: cpu };
}

function residentMb(pid: number): { readonly pssMb: number; readonly rssMb: number } {
  const rollup = read(`/proc/${pid}/smaps_rollup`);
  return { pssMb: field(rollup, "Pss"), rssMb: field(rollup, "Rss") };
}

/** Of a file with lines like `Pss:  458 kB`; a process that has ended holds nothing. */
function field(text: string, name: string): number {
  return Number(new RegExp(`^${name}: *(\\d+) kB`, "m").exec(text)?.[1] ?? 0) / 1024;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // It ended while we looked.
  }
}
