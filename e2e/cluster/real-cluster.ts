/**
 * A genuine Kubernetes on this machine, in a network namespace of its own. Bringing it up is the work of a script that lies
 * outside of this repository: `cluster.sh up|load|exec|down DIR`.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const defaultFolder = new URL("../../../shared/reference", import.meta.url).pathname;
const binaries = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kubelet",
  "kube-proxy",
  "kubectl",
  "coredns",
];
const programs = [
  "containerd",
  "runc",
  "ctr",
  "ip",
  "nsenter",
  "nft",
  "openssl",
  "curl",
  "python3",
  "go",
  "mmdebstrap",
];
const cniPlugin = "/usr/lib/cni/bridge";

export interface Reference {
  /** The path of cluster.sh. */
  readonly script: string;
  /** The folder of the cluster's binaries. */
  readonly bin: string;
}

/** Where the scripts and binaries are, or the sentence that says what is missing. */
export function findReference(env: NodeJS.ProcessEnv = process.env): Reference | string {
  const folder = env["SETPOINT_REFERENCE"] ?? defaultFolder;
  const script = join(folder, "cluster.sh");
  if (!existsSync(script)) return `there is no cluster.sh in "${folder}" (SETPOINT_REFERENCE names another folder)`;
  if (process.getuid?.() !== 0) return "a network namespace with containers in it needs root";
  const missing = programs.filter((name) => !isProgram(name, env));
  if (missing.length > 0) return `these programs are not installed: ${missing.join(", ")}`;
  if (!existsSync(cniPlugin)) return `the container network plugins are not installed: there is no ${cniPlugin}`;
  const bin = env["BIN"] ?? defaultBin(script);
  const unbuilt = binaries.filter((name) => !existsSync(join(bin, name)));
  if (unbuilt.length > 0)
    return `these binaries are not built in "${bin}" (BIN names another folder): ${unbuilt.join(", ")}`;
  return { script, bin };
}

function isProgram(name: string, env: NodeJS.ProcessEnv): boolean {
  return (env["PATH"] ?? "").split(":").some((folder) => folder !== "" && existsSync(join(folder, name)));
}

/** The script says itself where it looks when nobody tells it. */
function defaultBin(script: string): string {
  return /\$\{BIN:-([^}]+)\}/.exec(readFileSync(script, "utf8"))?.[1] ?? "bin";
}

/** Up from `up` to its disposal, which leaves nothing behind, also when `up` ended half way. */
export class RealCluster implements AsyncDisposable {
  readonly directory: string;
  readonly #reference: Reference;
  readonly #networkNamespace: string;

  constructor(reference: Reference) {
    this.#reference = reference;
    this.directory = mkdtempSync(join(tmpdir(), "setpoint-real-"));
    this.#networkNamespace = `setpoint-real-${process.pid}`;
  }

  get kubeconfig(): string {
    return join(this.directory, "kubeconfig");
  }

  get kubectl(): string {
    return join(this.#reference.bin, "kubectl");
  }

  async up(signal: AbortSignal): Promise<void> {
    if ((await this.#script(["up", this.directory], signal)) !== 0)
      throw new Error("Cannot bring the cluster up: cluster.sh says why");
  }

  /** Gives the node an image; it pulls none. */
  async load(archive: string, signal: AbortSignal): Promise<void> {
    if ((await this.#script(["load", this.directory, archive], signal)) !== 0)
      throw new Error(`Cannot load the image archive "${archive}"`);
  }

  /** Runs a program where the cluster's addresses are reachable; resolves to its exit code. */
  exec(command: readonly string[], signal: AbortSignal): Promise<number> {
    return this.#script(["exec", this.directory, ...command], signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const namespaces = this.#podNamespaces();
    const never = new AbortController().signal;
    await this.#script(["down", this.directory], never);
    // The pods that were left were killed, not stopped: nobody took their networks down.
    for (const name of namespaces) spawnSync("ip", ["netns", "delete", name]);
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Names of processes and mounts of this cluster; none after its disposal. */
  leftovers(): readonly string[] {
    const isOurs = (text: string): boolean => text.includes(this.directory);
    const mounts = readFileSync("/proc/mounts", "utf8").split("\n").filter(isOurs);
    const processes = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && isOurs(commandLine(pid)));
    const namespaces = readdirSync("/run/netns").filter((name) => name === this.#networkNamespace);
    return [
      ...mounts.map((line) => `mount ${line.split(" ")[1]}`),
      ...processes.map((pid) => `process ${pid} (${commandLine(pid)})`),
      ...namespaces.map((name) => `network namespace ${name}`),
    ];
  }

  /** The network namespaces of the pods that containerd has. */
  #podNamespaces(): readonly string[] {
    const ctr = (...args: string[]): string =>
      spawnSync("ctr", ["-a", join(this.directory, "containerd.sock"), "-n", "k8s.io", ...args], {
        encoding: "utf8",
        timeout: 10_000,
      }).stdout;
    if (!existsSync(join(this.directory, "containerd.sock"))) return [];
    const infos = ctr("containers", "ls", "-q")
      .split("\n")
      .filter(Boolean)
      .map((id) => ctr("containers", "info", id));
    return [...new Set(infos.flatMap((info) => /\/netns\/(cni-[0-9a-f-]+)/.exec(info)?.[1] ?? []))];
  }

  #script(args: readonly string[], signal: AbortSignal): Promise<number> {
    const env = { ...process.env, BIN: this.#reference.bin, CLUSTER_NS: this.#networkNamespace };
    return new Promise((resolve, reject) => {
      // Away from the terminal's ^C, which would end the script that takes the cluster down.
      const child = spawn(this.#reference.script, args, { env, stdio: "inherit", signal, detached: true });
      child.once("error", (error) => {
        if (error.name !== "AbortError") reject(error);
      });
      child.once("close", (code) => resolve(code ?? 1));
    });
  }
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}
