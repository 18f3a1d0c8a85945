/** Plays a story in a cluster: its commands one after the other in a shell, in a namespace of their own. */
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findBinary } from "../kubectl/binaries.ts";
import { mask, type Names } from "./mask.ts";
import type { Step, Story } from "./story.ts";

export interface Place {
  readonly kubeconfig: string;
  readonly names: Names;
  /** What a shell begins with where the cluster's addresses are reachable. */
  readonly enter: readonly string[];
}

/** One command waits for pods to start, and for others to end. */
const commandMsMax = 90_000;
const manifests = new URL("manifests", import.meta.url).pathname;

/** The story with the outputs of this place; of a step between only its exit code, when it failed. */
export async function playStory(story: Story, place: Place, signal: AbortSignal): Promise<Story> {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-story-"));
  try {
    cpSync(manifests, folder, { recursive: true });
    const env = prepare(folder, place);
    const shell = (command: string): Promise<Ended> => runShell(command, { ...place, folder, env }, signal);
    mustEnd(await shell(`kubectl delete namespace ${story.name} --ignore-not-found`), story);
    mustEnd(await shell(`kubectl create namespace ${story.name}`), story);
    mustEnd(await shell(`kubectl config set-context --current --namespace=${story.name}`), story);
    mustEnd(await shell("until kubectl get serviceaccount default; do sleep 0.2; done"), story);
    const steps: Step[] = [];
    for (const step of story.steps)
      steps.push({ ...step, output: outputOf(step, await shell(inPlace(step.command, place)), place) });
    await shell(`kubectl delete namespace ${story.name} --wait=false`);
    return { ...story, steps };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function outputOf({ isCompared }: Step, { code, output }: Ended, { names }: Place): readonly string[] {
  return [...(isCompared ? mask(output, names) : []), ...(code === 0 ? [] : [`[exit ${code}]`])];
}

/** `<node>` and `<server>` in a command are the names that the place has for them. */
function inPlace(command: string, { names }: Place): string {
  return command.replaceAll("<node>", names.node).replaceAll("<server>", names.server);
}

interface Ended {
  readonly command: string;
  readonly code: number;
  /** Both outputs, in the order in which they were written. */
  readonly output: string;
}

function mustEnd({ command, code, output }: Ended, { name }: Story): void {
  if (code !== 0) throw new Error(`Cannot play story "${name}": "${command}" ended with ${code}: ${output}`);
}

/** Nothing of the user's own settings: home, configuration, editor. */
function prepare(folder: string, { kubeconfig }: Place): Readonly<Record<string, string>> {
  const config = join(folder, ".kubeconfig");
  writeFileSync(config, kubeconfig, { mode: 0o600 });
  const bin = findBinary("kubectl").replace(/\/kubectl$/, "");
  return { HOME: folder, KUBECONFIG: config, PATH: `${bin}:${process.env["PATH"]}`, TERM: "dumb", SHELL: "/bin/sh" };
}

interface Shell {
  readonly enter: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/** What a command starts ends with it: an editor that waits for its user keeps the outputs open. */
function runShell(command: string, { enter, folder, env }: Shell, signal: AbortSignal): Promise<Ended> {
  const [program, ...args] = [...enter, "bash", "-c", `exec 2>&1\n${command}`];
  return new Promise((resolve, reject) => {
    // A group of its own, which is ended as a whole.
    const child = spawn(program, args, { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"], detached: true });
    const bound = AbortSignal.any([signal, AbortSignal.timeout(commandMsMax)]);
    const end = (): void => endGroup(child.pid);
    bound.addEventListener("abort", end, { once: true });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.once("error", reject);
    child.once("exit", end);
    child.once("close", (code) => {
      bound.removeEventListener("abort", end);
      resolve({ command, code: code ?? 124, output });
    });
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All of it has ended.
  }
}
