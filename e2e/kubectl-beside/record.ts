/**
 * `npm run kubectl-beside:record [-- --directory DIR] [STORY …]`: plays the stories on a genuine one-node
 * cluster, and writes what they print into their files. The cluster is started for it, unless DIR is that of
 * a running one (`cluster.sh up DIR`).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asked, refuse } from "../../tools/flags/asked.ts";
import { MachineState, runIsolated } from "../cluster/isolation.ts";
import { findReference, type Reference } from "../cluster/reference.ts";
import { recordStories } from "./recorder.ts";
import { writeStoryImages } from "./story-images.ts";

const { values, positionals } = asked("record what kubectl prints", {
  allowPositionals: true,
  options: { directory: { type: "string" } },
});
const stopping = new AbortController();
const { signal } = stopping;
for (const name of ["SIGINT", "SIGTERM"]) process.on(name, () => stopping.abort(new Error(`Stopped by ${name}`)));

async function recordOnNewCluster({ script, bin }: Reference): Promise<number> {
  using _machine = new MachineState();
  const directory = mkdtempSync(join(tmpdir(), "setpoint-real-"));
  try {
    await writeStoryImages(directory, signal);
    const session = new URL("record-session.ts", import.meta.url).pathname;
    const command = [process.execPath, "--conditions=@setpoint/source", session, script, bin, directory];
    return await runIsolated([...command, ...positionals], signal);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const reference = findReference();
if (typeof reference === "string") refuse(`Cannot record what kubectl prints: ${reference}`);
if (values.directory === undefined) process.exitCode = await recordOnNewCluster(reference);
else await recordStories(reference, values.directory, positionals, signal);
