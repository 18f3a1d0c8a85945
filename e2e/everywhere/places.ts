/**
 * The four places: a simulated world, the embedded control plane, a genuine kube-apiserver, a genuine
 * cluster.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
import { startKubeApiServer } from "./kube-apiserver.ts";
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
    const started = await startKubeApiServer();
    if (typeof started === "string") return started;
    await using server = started;
    const collector = startCollector(join(server.bin, "kube-controller-manager"), server.kubeconfig);
    try {
      return await tellAgainst(server.kubeconfig);
    } finally {
      collector.kill("SIGKILL");
    }
  },
};

function startCollector(program: string, kubeconfig: string): ChildProcess {
  const flags = ["--controllers=garbage-collector-controller", "--leader-elect=false", "--secure-port=0"];
  return spawn(program, [`--kubeconfig=${kubeconfig}`, ...flags], { stdio: "ignore" });
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
