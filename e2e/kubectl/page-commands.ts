/** Runs the commands that a page of the documentation shows, as typed, by a shell. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { findBinary } from "./binaries.ts";
import type { ClusterWithKubectl } from "./cluster.ts";

export const setpointProgram: string = new URL("../../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;

/** The blocks of commands of a page in docs, in their order. */
export function blocksOf(page: string): readonly string[] {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), "utf8");
  return [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block = ""]) => block);
}

/**
 * Resolves to both outputs of a script. `setpoint`, `kubectl` and `programs` (paths by name) are commands in
 * it; its folder is that of the cluster's kubectl.
 */
export function runScript(
  { kubectl, env }: ClusterWithKubectl,
  script: string,
  programs: Readonly<Record<string, string>> = {},
): Promise<string> {
  const commands = { setpoint: `${process.execPath} ${setpointProgram}`, kubectl: findBinary("kubectl"), ...programs };
  for (const [name, command] of Object.entries(commands))
    kubectl.file(name, `#!/bin/sh\nexec ${command} "$@"\n`, 0o755);
  // What a script starts in the background ends with it.
  const whole = `set -eu\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n${script}`;
  const path = `${kubectl.folder}:${env["PATH"]}`;
  const options = { cwd: kubectl.folder, env: { ...env, PATH: path }, timeout: 60_000 };
  return new Promise((resolve) => {
    execFile("bash", ["-c", whole], options, (_, stdout, stderr) => resolve(`${stdout}${stderr}`));
  });
}
