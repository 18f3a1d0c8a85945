/** The two commands of a new operator's project, run as its README says. */
import { execFile, spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigMap, CustomResourceDefinition } from "@setpoint/api";
import { createClient } from "@setpoint/client";
import { startControlPlane } from "@setpoint/controlplane";
import { silentLogger } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { expect, vi } from "vitest";

/** The scripts' own Node is found as npm finds it, and not the test runner's settings. */
export function environment(more: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...process.env, NODE_OPTIONS: "", NO_COLOR: "1", VITEST: "", ...more };
}

export interface Ended {
  readonly code: number;
  readonly text: string;
}

export function runProgram(
  program: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { cwd, env: environment(env), maxBuffer: 16 * 1024 * 1024 };
    const child = execFile(program, [...args], options, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? 128, text: stdout + stderr }),
    );
  });
}

export async function expectTestPasses(project: string): Promise<void> {
  const { code, text } = await runProgram("npm", ["test"], project);
  expect(text).toMatch(/1 passed/);
  expect(code).toBe(0);
}

/** `npm start` installs the kind IceCream of the project "ice-cream" and does what its test says. */
export async function expectStartWorks(project: string): Promise<void> {
  const host = { ...systemHost(), log: silentLogger };
  await using plane = await startControlPlane({ host, https: {} });
  const kubeconfig = join(project, "..", "kubeconfig");
  writeFileSync(kubeconfig, plane.kubeconfig(), { mode: 0o600 });
  const client = createClient(plane.transport, host);
  // In a group of its own, because npm is not the operator.
  const child = spawn("npm", ["start"], {
    cwd: project,
    env: environment({ KUBECONFIG: kubeconfig }),
    detached: true,
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  try {
    await vi.waitFor(() => expect(said).toContain('"message":"Ready"'), { timeout: 30_000 });
    const { spec } = await client.get(CustomResourceDefinition, { name: "icecreams.ice-cream.example.com" });
    const kind = { group: spec.group, version: "v1", kind: "IceCream", plural: "icecreams", namespaced: true };
    const object = {
      apiVersion: "ice-cream.example.com/v1",
      kind: "IceCream",
      metadata: { name: "first", namespace: "default" },
    };
    await client.create(kind, { ...object, spec: { greeting: "hi" } } as typeof object);
    const made = async (): Promise<unknown> =>
      (await client.get(ConfigMap, { name: "first-greeting", namespace: "default" })).data;
    await vi.waitFor(async () => expect(await made()).toEqual({ greeting: "hi" }), { timeout: 10_000 });
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
    await ended;
    rmSync(kubeconfig);
  }
}
