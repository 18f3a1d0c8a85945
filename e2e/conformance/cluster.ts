/** `setpoint up` as the cluster that is judged, started as a user starts it. */
import { spawn } from "node:child_process";
import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const bin = new URL("../../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;
/** With the images of the suite still to be made. */
const readyMsMax = 300_000;

export interface JudgedCluster extends AsyncDisposable {
  readonly kubeconfig: string;
  /** Where the cluster's log is until it is disposed. */
  readonly log: string;
}

/** Throws with the log's last lines when the cluster is not ready in time. */
export async function startCluster(nodes: number): Promise<JudgedCluster> {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-judged-"));
  const kubeconfig = join(folder, "kubeconfig");
  const log = join(folder, "up.log");
  // The suite has privileged pods, and some in the network of their node.
  const where = ["--data-dir", join(folder, "data"), "--kubeconfig", kubeconfig];
  const args = [bin, "up", "--allow-host", ...where, "--nodes", String(nodes)];
  const child = spawn(process.execPath, ["--conditions=@setpoint/source", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const written = createWriteStream(log);
  child.stderr.pipe(written);
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const ready = new Promise<boolean>((resolve) => child.stdout.once("data", () => resolve(true)));
  const timeout = new Promise<boolean>((resolve) => void setTimeout(resolve, readyMsMax, false).unref());
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await ended;
    written.end();
    rmSync(folder, { recursive: true, force: true });
  };
  if (await Promise.race([ready, timeout, ended.then(() => false)]))
    return { kubeconfig, log, [Symbol.asyncDispose]: stop };
  await stop();
  throw new Error(`Cannot start the cluster: it is not ready after ${readyMsMax / 1_000} s`);
}
