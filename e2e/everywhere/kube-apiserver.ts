/** A genuine kube-apiserver with its etcd, by a script and binaries that lie outside of this repository. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface KubeApiServer extends AsyncDisposable {
  readonly kubeconfig: string;
  /** The folder of the other genuine binaries. */
  readonly bin: string;
}

/** A string says why it cannot be had. */
export async function startKubeApiServer(): Promise<KubeApiServer | string> {
  const found = findApiServer();
  if (typeof found === "string") return found;
  const folder = mkdtempSync(join(tmpdir(), "setpoint-reference-"));
  const stop = async (): Promise<void> => {
    killServers(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  };
  const { status } = spawnSync(found.script, [found.bin, folder, String(await freePorts())], { encoding: "utf8" });
  if (status === 0) return { kubeconfig: join(folder, "kubeconfig"), bin: found.bin, [Symbol.asyncDispose]: stop };
  const reason = lastLines(join(folder, "apiserver.log"));
  await stop();
  throw new Error(`Cannot start kube-apiserver: ${reason}`);
}

/** The script takes three ports in a row. */
async function freePorts(): Promise<number> {
  for (let first = 17_400; first < 17_900; first += 10) {
    const free = await Promise.all([first, first + 1, first + 2].map(isFree));
    if (free.every(Boolean)) return first;
  }
  throw new Error("Cannot start kube-apiserver: of the ports from 17400 to 17900 no three in a row are free");
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** At once: an API server whose etcd has gone before it would wait for it. */
function killServers(folder: string): void {
  for (const name of ["apiserver", "etcd"]) {
    const file = join(folder, `${name}.pid`);
    if (!existsSync(file)) continue;
    try {
      process.kill(Number(readFileSync(file, "utf8")), "SIGKILL");
    } catch {
      // It never came up, or has ended.
    }
  }
}

function lastLines(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(-5).join("\n") : "it has no log";
}

function findApiServer(): { readonly script: string; readonly bin: string } | string {
  const folder = process.env["SETPOINT_REFERENCE"] ?? new URL("../../../shared/reference", import.meta.url).pathname;
  const script = join(folder, "up.sh");
  if (!existsSync(script)) return `there is no up.sh in "${folder}" (SETPOINT_REFERENCE names another folder)`;
  const bin =
    process.env["BIN"] ?? /\$\{BIN:-([^}]+)\}/.exec(readFileSync(join(folder, "cluster.sh"), "utf8"))?.[1] ?? "bin";
  const missing = ["etcd", "kube-apiserver", "kube-controller-manager"].filter((name) => !existsSync(join(bin, name)));
  if (missing.length > 0)
    return `these binaries are not built in "${bin}" (BIN names another folder): ${missing.join(", ")}`;
  return { script, bin };
}
