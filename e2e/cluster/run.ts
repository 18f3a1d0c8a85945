/**
 * `npm run e2e:cluster`: the etcd operator on a genuine Kubernetes, with the manifests, the example and the
 * tour of `npm start -- --exit`. Where no such cluster can be had it says why and ends well. It leaves
 * nothing behind.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { writeImageArchives } from "./image-archives.ts";
import { MachineState, runIsolated } from "./isolation.ts";
import { findReference, type Reference } from "./reference.ts";
import { timed } from "./timed.ts";

const sessionScript = new URL("session.ts", import.meta.url).pathname;
const stopping = new AbortController();
const load = (): string => `load ${loadavg()[0]?.toFixed(1)}`;

async function run({ script, bin }: Reference): Promise<boolean> {
  const machine = new MachineState();
  const directory = mkdtempSync(join(tmpdir(), "setpoint-real-"));
  let holds = false;
  try {
    await timed("the images are made", () => writeImageArchives(directory, stopping.signal));
    const session = [process.execPath, "--conditions=@setpoint/source", sessionScript, script, bin, directory];
    holds = (await runIsolated(session, stopping.signal)) === 0;
  } finally {
    machine[Symbol.dispose]();
    rmSync(directory, { recursive: true });
  }
  const left = [...machine.newGroups(), ...processesAndMounts(directory)];
  if (left.length > 0) console.error(`Left behind: ${left.join(", ")}`);
  return holds && left.length === 0;
}

function processesAndMounts(directory: string): readonly string[] {
  const mounts = readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .filter((line) => line.includes(directory));
  const processes = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes(directory));
  return [...mounts.map((line) => `mount ${line.split(" ")[1]}`), ...processes.map((pid) => `process ${pid}`)];
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // It ended while we looked.
  }
}

// For good, not once: a second ^C must not keep the cluster from being taken down.
for (const name of ["SIGINT", "SIGTERM"]) {
  process.on(name, () => {
    console.log(`Stopping, because of ${name} …`);
    stopping.abort(new Error(`Stopped by ${name}`));
  });
}
const reference = findReference();
if (typeof reference === "string") {
  console.log(`skipped: ${reference}`);
} else {
  console.log(`A real Kubernetes for the etcd operator (${load()}):`);
  const holds = await run(reference).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    return false;
  });
  console.log(holds ? `All steps hold (${load()}).` : stopping.signal.aborted ? "Stopped." : "The tour failed.");
  process.exitCode = holds ? 0 : 1;
}
