/** `setpoint create operator`: the two commands of a new project, run as its README says, in a folder of a user's own. */
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigMap, CustomResourceDefinition } from "@setpoint/api";
import { createClient } from "@setpoint/client";
import { startControlPlane } from "@setpoint/controlplane";
import { silentLogger } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { afterAll, expect, test, vi } from "vitest";

const bin = new URL("../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "setpoint-create-"));
const project = join(folder, "ice-cream");
const kubeconfig = join(folder, "kubeconfig");
afterAll(() => rmSync(folder, { recursive: true }));

// The scripts' own Node is found as npm finds it, and not the test runner's settings.
const env = { ...process.env, NODE_OPTIONS: "", KUBECONFIG: kubeconfig, NO_COLOR: "1", VITEST: "" };

function run(
  program: string,
  args: readonly string[],
  cwd: string,
): Promise<{ readonly code: number; readonly text: string }> {
  return new Promise((resolve) => {
    const child = execFile(program, [...args], { cwd, env, maxBuffer: 16 * 1024 * 1024 }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? 128, text: stdout + stderr }),
    );
  });
}

test("npm test passes at once", async () => {
  expect(await run(process.execPath, [bin, "create", "operator", "ice-cream"], folder)).toMatchObject({ code: 0 });
  const { code, text } = await run("npm", ["test"], project);
  expect(text).toMatch(/1 passed/);
  expect(code).toBe(0);
});

test("npm start installs the kind and does what the test says", async () => {
  const host = { ...systemHost(), log: silentLogger };
  await using plane = await startControlPlane({ host, https: {} });
  writeFileSync(kubeconfig, plane.kubeconfig(), { mode: 0o600 });
  const client = createClient(plane.transport, host);
  // In a group of its own, because npm is not the operator.
  const child = spawn("npm", ["start"], { cwd: project, env, detached: true });
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
    const child = async (): Promise<unknown> =>
      (await client.get(ConfigMap, { name: "first-greeting", namespace: "default" })).data;
    await vi.waitFor(async () => expect(await child()).toEqual({ greeting: "hi" }), { timeout: 10_000 });
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
    await ended;
  }
});
