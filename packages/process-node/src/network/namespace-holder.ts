/**
 * The network namespace of a cluster is held by a process that does nothing. It survives a kill of
 * `setpoint up` and of the agents, and the next start of the same data directory finds it again by its
 * process id and start time.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { messageOf } from "@setpoint/apimachinery";
import type { Clock } from "@setpoint/host";
import { sleep } from "@setpoint/host";
import { nodeError } from "../errors.ts";

/** A network namespace, named by a process in it. */
export interface NetworkNamespace {
  readonly holderPid: number;
  /** Whether it belongs to a user namespace that an ordinary user made. */
  readonly isRootless: boolean;
}

/** Where the process that holds a network namespace is recorded. */
export interface HolderOptions {
  readonly clock: Clock;
  /** Where the holder is remembered. Absent: it ends with this process. */
  readonly file?: string;
}

export interface NamespaceHolder extends NetworkNamespace {
  /** Whether it was there before. */
  readonly isAdopted: boolean;
  /** Ends the namespace and all interfaces in it. */
  remove(): void;
}

interface Persisted {
  readonly pid: number;
  readonly startTicks: string;
}

const startMsMax = 5_000;
const pollMs = 5;

/** The namespace that the file remembers, or a new one. Throws `ERR_NETWORK` where the host allows none. */
export async function holdNamespace(options: HolderOptions): Promise<NamespaceHolder> {
  const isRootless = process.getuid?.() !== 0;
  const known = options.file === undefined ? undefined : readHolder(options.file);
  if (known !== undefined) return describe(known.pid, isRootless, true, options.file);
  const child = spawnHolder(isRootless, options.file === undefined);
  try {
    await untilSeparate(options.clock, child);
    if (options.file !== undefined) {
      remember(options.file, child.pid ?? 0);
      child.stdin?.end("recorded\n");
    }
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
  return describe(child.pid ?? 0, isRootless, false, options.file);
}

/** The arguments in front of a command that make it run in the namespace, with every right in it. */
export function enterNamespace({ holderPid, isRootless }: NetworkNamespace): readonly string[] {
  const user = isRootless ? ["--user", "--preserve-credentials"] : [];
  return ["nsenter", ...user, "--net", "--target", String(holderPid)];
}

/**
 * Without a file the holder reads a pipe of this process, and ends when this process does. With one, it does
 * so until it is recorded.
 */
function spawnHolder(isRootless: boolean, endsWithUs: boolean): ChildProcess {
  const user = isRootless ? ["--user", "--map-root-user"] : [];
  const program = endsWithUs ? ["cat"] : ["sh", "-c", "read -r recorded && exec sleep infinity <&-"];
  const child = spawn("unshare", [...user, "--net", ...program], {
    cwd: "/",
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
    detached: true,
    stdio: ["pipe", "ignore", "pipe"],
  });
  child.stdin?.on("error", () => {});
  child.unref();
  return child;
}

/** Waits until `unshare` has become the program, in a namespace that is not ours. */
async function untilSeparate(clock: Clock, child: ChildProcess): Promise<void> {
  let problem = "";
  let isOver = false;
  child.stderr?.on("data", (chunk: Buffer) => (problem += chunk.toString()));
  child.once("error", (error) => (problem = messageOf(error)));
  child.once("close", () => (isOver = true));
  const own = readlinkSync("/proc/self/ns/net");
  const deadline = clock.monotonic() + startMsMax;
  while (!isOver && problem === "" && clock.monotonic() < deadline) {
    if (child.pid !== undefined && isHolding(child.pid, own)) {
      child.stderr?.destroy();
      return;
    }
    await sleep(clock, pollMs);
  }
  throw nodeError("ERR_NETWORK", `Cannot create a network namespace: ${problem.trim() || "unshare does not answer"}`);
}

function isHolding(pid: number, ownNamespace: string): boolean {
  try {
    const command = readFileSync(`/proc/${pid}/comm`, "utf8").trim();
    return command !== "unshare" && command !== "node" && readlinkSync(`/proc/${pid}/ns/net`) !== ownNamespace;
  } catch {
    return false;
  }
}

function remember(file: string, pid: number): void {
  const persisted: Persisted = { pid, startTicks: startTicks(pid) ?? "" };
  writeFileSync(`${file}.new`, JSON.stringify(persisted), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Undefined when the process has ended, or its id belongs to another one now. */
export function readHolder(file: string): { readonly pid: number } | undefined {
  try {
    const { pid, startTicks: before } = JSON.parse(readFileSync(file, "utf8")) as Persisted;
    return typeof pid === "number" && before !== "" && startTicks(pid) === before ? { pid } : undefined;
  } catch {
    return undefined;
  }
}

/** Since boot; with the process id it names a process for ever. Undefined when there is no such process. */
function startTicks(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold blanks; the start time is the 20th field after it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function describe(pid: number, isRootless: boolean, isAdopted: boolean, file: string | undefined): NamespaceHolder {
  const ticks = startTicks(pid);
  return {
    holderPid: pid,
    isRootless,
    isAdopted,
    remove() {
      if (ticks !== undefined && startTicks(pid) === ticks) process.kill(pid, "SIGKILL");
      if (file !== undefined) rmSync(file, { force: true });
    },
  };
}
