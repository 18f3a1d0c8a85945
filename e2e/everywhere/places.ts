/**
 * The four places: a simulated world, the embedded control plane, a genuine kube-apiserver, a genuine
 * cluster.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@setpoint/client";
import { connect } from "@setpoint/client/node";
import { startControlPlane } from "@setpoint/controlplane";
import { silentLogger, sleep } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { simulate } from "@setpoint/testing";
import candy from "../../examples/candy/candy.ts";
import { MachineState, runIsolated } from "../cluster/isolation.ts";
import { findReference } from "../cluster/reference.ts";
import { startOperator } from "./operator-process.ts";
import { type Claim, tellStory } from "./story.ts";

export interface Place {
  readonly name: string;
  /** The claims that hold; a string: why the place cannot be had. Throws when a claim does not hold. */
  tell(): Promise<readonly Claim[] | string>;
}

const host = { ...systemHost(), log: silentLogger };

/** The story against a cluster that is reached by a kubeconfig, with the operator as a process beside it. */
export async function tellAgainst(kubeconfig: string): Promise<readonly Claim[]> {
  await using _operator = await startOperator(kubeconfig);
  await using transport = connect({ clock: host.clock, kubeconfig, userAgent: "setpoint-e2e" });
  const client = createClient(transport, host);
  return await tellStory({ client, wait: (promise) => promise, pass: (ms) => sleep(host.clock, ms) });
}

const simulatedWorld: Place = {
  name: "simulated world",
  async tell() {
    await using world = await simulate({ seed: 1, operators: [candy] });
    return await tellStory({
      client: world.client,
      wait: (promise) => world.wait(promise),
      pass: (ms) => world.run(ms),
    });
  },
};

const embedded: Place = {
  name: "embedded control plane",
  async tell() {
    const folder = mkdtempSync(join(tmpdir(), "setpoint-everywhere-"));
    try {
      await using plane = await startControlPlane({ host, https: {} });
      const kubeconfig = join(folder, "kubeconfig");
      writeFileSync(kubeconfig, plane.kubeconfig(), { mode: 0o600 });
      return await tellAgainst(kubeconfig);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

/** A real API server has no garbage collector: the real controller manager brings it, and nothing else. */
const realApiServer: Place = {
  name: "kube-apiserver",
  async tell() {
    const found = findApiServer();
    if (typeof found === "string") return found;
    const folder = mkdtempSync(join(tmpdir(), "setpoint-reference-"));
    const port = String(await freePorts());
    const started = spawnSync(found.script, [found.bin, folder, port], { encoding: "utf8" });
    let collector: ChildProcess | undefined;
    try {
      if (started.status !== 0)
        throw new Error(`Cannot start kube-apiserver: ${lastLines(join(folder, "apiserver.log"))}`);
      const kubeconfig = join(folder, "kubeconfig");
      collector = startCollector(join(found.bin, "kube-controller-manager"), kubeconfig);
      return await tellAgainst(kubeconfig);
    } finally {
      collector?.kill("SIGKILL");
      killServers(folder);
      rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    }
  },
};

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

function startCollector(program: string, kubeconfig: string): ChildProcess {
  const flags = ["--controllers=garbage-collector-controller", "--leader-elect=false", "--secure-port=0"];
  return spawn(program, [`--kubeconfig=${kubeconfig}`, ...flags], { stdio: "ignore" });
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

/**
 * A whole cluster, in namespaces of its own; the operator and the story run where its addresses are
 * reachable.
 */
const realCluster: Place = {
  name: "real cluster",
  async tell() {
    const reference = findReference();
    if (typeof reference === "string") return reference;
    using _machine = new MachineState();
    const folder = mkdtempSync(join(tmpdir(), "setpoint-real-"));
    try {
      const session = new URL("cluster-session.ts", import.meta.url).pathname;
      const command = [
        process.execPath,
        "--conditions=@setpoint/source",
        session,
        reference.script,
        reference.bin,
        folder,
      ];
      const code = await runIsolated(command, new AbortController().signal);
      const result = join(folder, "claims.json");
      if (code !== 0 || !existsSync(result)) throw new Error("the story does not hold, see above");
      return JSON.parse(readFileSync(result, "utf8")) as readonly Claim[];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

export const places: readonly Place[] = [simulatedWorld, embedded, realApiServer, realCluster];
