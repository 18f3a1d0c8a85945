/** Where the parts of a genuine Kubernetes are: scripts and binaries that lie outside of this repository. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Reference {
  /** The path of cluster.sh: `up|load|exec|down DIR`. */
  readonly script: string;
  /** The folder of the cluster's binaries. */
  readonly bin: string;
}

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
const programs = ["containerd", "runc", "ctr", "ip", "nsenter", "unshare", "nft", "openssl", "curl", "python3", "go"];
const cniPlugin = "/usr/lib/cni/bridge";

/** Where the script and the binaries are, or the sentence that says what is missing. */
export function findReference(env: NodeJS.ProcessEnv = process.env): Reference | string {
  const folder = env["SETPOINT_REFERENCE"] ?? defaultFolder;
  const script = join(folder, "cluster.sh");
  if (!existsSync(script)) return `there is no cluster.sh in "${folder}" (SETPOINT_REFERENCE names another folder)`;
  if (process.getuid?.() !== 0) return "namespaces with containers in them need root";
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
