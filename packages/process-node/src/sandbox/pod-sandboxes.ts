/** The namespaces of pods, each held by a process that sleeps and that outlives the agent. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "@setpoint/apimachinery";
import type { IdRange } from "../host/id-range.ts";
import type { PodSandbox, PodSandboxSpec } from "./container-runtime.ts";
import { nodeError } from "../errors.ts";
import { readJson, writeJson } from "../host/json-file.ts";
import { identify, isAlive, type ProcessIdentity, signalProcess } from "../host/process-identity.ts";
import type { IdRanges } from "./id-ranges.ts";
import { runTool, toolEnvironment } from "../host/run-tool.ts";
import type { RuntimeRights } from "./runtime-rights.ts";
import { untilReady } from "./until-ready.ts";

interface SandboxRecord {
  readonly holder: ProcessIdentity;
  readonly sandbox: PodSandbox;
}

/**
 * Only root may write the kernel's setting; the program `hostname` needs no more than a right in the
 * namespace.
 */
const nameScript = `{ printf '%s' "$1" >/proc/sys/kernel/hostname; } 2>/dev/null || hostname "$1"`;
const settingScript = `printf '%s' "$2" >"/proc/sys/$1"`;
/** Rights in a namespace of its own are what a program without a filter begins to attack the kernel with. */
const noNamespaces = `{ echo 0 >/proc/sys/user/max_user_namespaces; } 2>/dev/null || true`;
/**
 * In the pod's own namespaces, with rights there and nowhere else. It sleeps without an open file, and not
 * before it is recorded: an agent that ends before that takes it along.
 */
const hostHolderScript = "echo ready && read -r recorded && exec sleep infinity <&- >&- 2>&-";
const holderScript = `${noNamespaces}; ${hostHolderScript}`;

export class PodSandboxes {
  readonly #directory: string;
  readonly #ids: IdRanges;
  readonly #privileged: boolean;
  readonly #rights: RuntimeRights;

  constructor(directory: string, ids: IdRanges, privileged: boolean, rights: RuntimeRights) {
    this.#directory = directory;
    this.#ids = ids;
    this.#privileged = privileged;
    this.#rights = rights;
  }

  /** The pod's sandbox if its namespaces are still held. */
  find(podUid: string): PodSandbox | undefined {
    const record = readJson(this.#file(podUid)) as SandboxRecord | undefined;
    return record !== undefined && isAlive(record.holder) && this.#rights.areHeld() ? record.sandbox : undefined;
  }

  /** Throws ERR_CONTAINER_START with what the host refuses. */
  async create(spec: PodSandboxSpec): Promise<PodSandbox> {
    const known = this.find(spec.podUid);
    if (known !== undefined) return known;
    await this.#rights.obtain();
    mkdirSync(join(this.#directory, spec.podUid), { recursive: true, mode: 0o700 });
    const range = this.#privileged ? this.#rangeOf(spec) : undefined;
    const child = this.#spawnHolder(spec, range);
    try {
      await untilReady(child);
      if (range !== undefined) await this.#prepare(child.pid ?? 0, spec, range);
      await this.#setKernel(child.pid ?? 0, spec);
      const ids = range === undefined ? ownIds(spec) : { uids: range, gids: range };
      const sandbox = this.#remember(spec, child.pid ?? 0, ids);
      child.stdin?.end("recorded\n");
      return sandbox;
    } catch (error) {
      child.kill("SIGKILL");
      const message = `Cannot make the namespaces of pod "${spec.podUid}": ${messageOf(error)}`;
      throw nodeError("ERR_CONTAINER_START", message, error);
    }
  }

  /** Ends the holder and forgets the pod; its containers must be gone. */
  remove(podUid: string): void {
    const record = readJson(this.#file(podUid)) as SandboxRecord | undefined;
    if (record !== undefined) signalProcess(record.holder, "SIGKILL");
    rmSync(join(this.#directory, podUid), { recursive: true, force: true });
  }

  /** Of every pod that has something here. */
  uids(): readonly string[] {
    if (!existsSync(this.#directory)) return [];
    return readdirSync(this.#directory).filter((name) => !name.startsWith("."));
  }

  #rangeOf({ podUid, host }: PodSandboxSpec): IdRange {
    return host === undefined ? this.#ids.rangeOf(podUid) : hostIds;
  }

  #spawnHolder(spec: PodSandboxSpec, range: IdRange | undefined): ChildProcess {
    const [program = "", ...args] = this.#rights.enter(holderCommand(spec, range));
    const child = spawn(program, args, {
      cwd: "/",
      env: toolEnvironment,
      stdio: ["pipe", "pipe", "pipe"],
      // Signals to the agent's group are not for it.
      detached: true,
    });
    // Its end is noticed by other ways.
    child.stdin?.on("error", () => {});
    child.unref();
    return child;
  }

  async #prepare(pid: number, { hostname, host }: PodSandboxSpec, range: IdRange): Promise<void> {
    const enter = ["/usr/bin/nsenter", "--uts", "--target", String(pid)];
    await runTool([...enter, "/bin/sh", "-c", nameScript, "sh", hostname]);
    if (host !== undefined) return;
    const line = `${range.container} ${range.host} ${range.size}`;
    for (const file of ["uid_map", "gid_map"]) writeFileSync(`/proc/${pid}/${file}`, line);
  }

  /** As user 0 of the pod, to whom the settings belong. */
  async #setKernel(pid: number, { kernelSettings = [], host, networkNamespace }: PodSandboxSpec): Promise<void> {
    const own = host === undefined ? ["--user", ...(this.#privileged ? [] : ["--preserve-credentials"])] : [];
    const enter = ["/usr/bin/nsenter", ...own, "--ipc", "--net", "--target", String(pid)];
    for (const { path, value } of kernelSettings) {
      if (path.startsWith("net/") && !networkNamespace)
        throw new Error(`${path} cannot be set: the pod has the network of its host`);
      await runTool(this.#rights.enter([...enter, "/bin/sh", "-c", settingScript, "sh", path, value]));
    }
  }

  #remember(spec: PodSandboxSpec, pid: number, ids: { readonly uids: IdRange; readonly gids: IdRange }): PodSandbox {
    const holder = identify(pid);
    if (holder === undefined) throw new Error("its holder ended");
    const { podUid, networkNamespace, host } = spec;
    const sandbox: PodSandbox = { podUid, holderPid: pid, ...ids, networkNamespace, ...(host && { host }) };
    const record: SandboxRecord = { holder, sandbox };
    writeJson(this.#file(podUid), record);
    return sandbox;
  }

  #file(podUid: string): string {
    return join(this.#directory, podUid, "sandbox.json");
  }
}

/** Those of the host, for a pod with rights over it. */
const hostIds: IdRange = { container: 0, host: 0, size: 2 ** 32 - 1 };

function holderCommand(spec: PodSandboxSpec, range: IdRange | undefined): readonly string[] {
  const { hostname, networkNamespace, networkOf, host, user, group } = spec;
  const join = networkOf === undefined ? [] : ["/usr/bin/nsenter", "--net", "--target", String(networkOf)];
  const net = networkNamespace && networkOf === undefined ? ["--net"] : [];
  const ipc = host?.ipc === true ? [] : ["--ipc"];
  const own = ["--uts", ...ipc, ...net];
  if (host !== undefined) return [...join, "/usr/bin/unshare", ...own, "/bin/sh", "-c", hostHolderScript];
  // Root names the pod and writes its map from outside; for anybody else it is the one id that needs no
  // right.
  const [unshare, script] =
    range === undefined
      ? [["/usr/bin/unshare", `--map-user=${user}`, `--map-group=${group}`], `${nameScript} && ${holderScript}`]
      : [[...asOwner(range), "/usr/bin/unshare"], holderScript];
  return [...unshare, "--user", "--keep-caps", ...own, "/bin/sh", "-c", script, "sh", hostname];
}

/**
 * The kernel counts what a pod has of its tables (inotify instances, message queues) for the user who
 * made its namespace as well. That is user 0 of the pod, so that no pod takes what root of the host or
 * another pod needs.
 */
function asOwner({ host }: IdRange): readonly string[] {
  const user = ["--reuid", String(host), "--regid", String(host), "--clear-groups"];
  // Some hosts let nobody else make user namespaces.
  return ["/usr/bin/setpriv", ...user, "--inh-caps", "+sys_admin", "--ambient-caps", "+sys_admin"];
}

/**
 * An ordinary user has one id to give: that of the pod's user. Outside of the pod it is user 0 of
 * `OwnUserNamespace`.
 */
function ownIds({ user, group }: PodSandboxSpec): { readonly uids: IdRange; readonly gids: IdRange } {
  return { uids: { container: user, host: 0, size: 1 }, gids: { container: group, host: 0, size: 1 } };
}
