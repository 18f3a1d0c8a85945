/** The two clusters, each started, measured and stopped. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runRealSession } from "../../e2e/cluster/real-session.ts";
import type { Reference } from "../../e2e/cluster/reference.ts";
import type { Measurement, MeasurementOrder } from "./measurement.ts";
import { imageCatalogueText, writeArchives } from "./workload.ts";

export interface Amount {
  readonly pods: number;
  readonly idleSeconds: number;
}

const setpoint = new URL("../../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;
const measureScript = new URL("measure.ts", import.meta.url).pathname;
const sessionScript = new URL("reference-session.ts", import.meta.url).pathname;

/** What a node of either cluster takes at most. */
const podsPerNode = 110;

/** As many nodes as the pods need. */
export function nodesFor(pods: number): number {
  return Math.ceil(pods / podsPerNode);
}

/** `setpoint up`, with a data directory, as a user starts it. */
export async function measureOurs({ pods, idleSeconds }: Amount, signal: AbortSignal): Promise<Measurement> {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-pods-"));
  try {
    const [kubeconfig, images] = [join(folder, "kubeconfig"), join(folder, "images.yaml")];
    writeFileSync(images, imageCatalogueText());
    const flags = ["--quiet", "--data-dir", join(folder, "data"), "--kubeconfig", kubeconfig, "--images", images];
    await using _up = await startUp([...flags, "--nodes", String(nodesFor(pods))]);
    const resultFile = join(folder, "result.json");
    const processes = { kind: "folder", folder: join(folder, "data") } as const;
    await runMeasure({ kubeconfig, pods, idleSeconds, processes, resultFile }, signal);
    return readResult(resultFile);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Resolves when it serves; disposing is a ^C that is waited for. */
async function startUp(flags: readonly string[]): Promise<AsyncDisposable> {
  const child = spawn(process.execPath, [setpoint, "up", ...flags], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  const first = await Promise.race([once(child.stdout, "data"), ended.then(() => undefined)]);
  if (first === undefined) throw new Error("Cannot start setpoint up: it says why above");
  child.stdout.resume();
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGINT");
      await ended;
    },
  };
}

async function runMeasure(order: MeasurementOrder, signal: AbortSignal): Promise<void> {
  const args = ["--conditions=@setpoint/source", measureScript, JSON.stringify(order)];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"], signal });
  const [code] = (await once(child, "close")) as readonly unknown[];
  if (code !== 0) throw new Error(`Cannot measure: the client ended with code ${String(code)}`);
}

/** A genuine one-node Kubernetes: etcd, kube-apiserver, controllers, scheduler, kubelet, containerd. */
export async function measureReference(
  reference: Reference,
  { pods, idleSeconds }: Amount,
  signal: AbortSignal,
): Promise<Measurement> {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-pods-"));
  try {
    const resultFile = join(folder, "result.json");
    const args = [String(pods), String(idleSeconds), resultFile];
    const session = { script: sessionScript, args, signal, prepare: writeArchives };
    if (!(await runRealSession(reference, session))) throw new Error("Cannot measure the genuine cluster: see above");
    return readResult(resultFile);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readResult(file: string): Measurement {
  // `measure.ts` wrote it.
  return JSON.parse(readFileSync(file, "utf8")) as Measurement;
}
