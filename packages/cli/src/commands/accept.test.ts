/** `setpoint accept` against a control plane in which a test plays the operator. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, RestMapping } from "@setpoint/client";
import { startControlPlane } from "@setpoint/controlplane";
import { silentLogger, sleep } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { defineKind } from "setpoint";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type AcceptanceRun, acceptanceRuns, type RunStatus } from "../accept/acceptance-run.ts";
import { type Ran, setpoint } from "../setpoint.fixture.ts";

const host = { ...systemHost(), log: silentLogger };
const folder = mkdtempSync(join(tmpdir(), "setpoint-accept-"));
const kubeconfig = join(folder, "kubeconfig");
const plane = await startControlPlane({ host, https: {}, controllers: false });
const client = createClient(plane.transport, host);

const target = z.object({ apiGroup: z.string(), kind: z.string() });
const spec = z.object({
  target,
  version: z.string().optional(),
  checks: z.array(z.string()).optional(),
  checkTimeoutSeconds: z.int().optional(),
});
const check = z.object({
  name: z.string(),
  state: z.string(),
  message: z.string().optional(),
  seconds: z.number().optional(),
});
const status = z.object({
  phase: z.string(),
  message: z.string().optional(),
  passed: z.int(),
  failed: z.int(),
  skipped: z.int(),
  finishedAt: z.string().optional(),
  checks: z.array(check),
});
const { group, version, kind } = acceptanceRuns;
const Run = defineKind({ group, version, kind, spec, status });
const Toy = defineKind({
  group: "accept.setpoint.dev",
  version: "v1",
  kind: "Toy",
  spec: z.object({ color: z.string().optional() }),
});

beforeAll(async () => {
  writeFileSync(kubeconfig, plane.kubeconfig());
  const mapping = new RestMapping(client, { clock: host.clock, rediscoverMsMin: 0 });
  for (const each of [Run, Toy]) {
    const crd = each.crd();
    await client.apply(await mapping.ofObject(crd), crd, { fieldManager: "test" });
  }
  while ((await mapping.ofKind(Toy)) === undefined || (await mapping.ofKind(Run)) === undefined)
    await sleep(host.clock, 20);
});
afterAll(async () => {
  await plane[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const accept = (...args: readonly string[]): Promise<Ran> => setpoint("accept", ...args, "--kubeconfig", kubeconfig);

async function runNamed(name: string): Promise<AcceptanceRun> {
  for (;;) {
    const { items } = await client.listAll(acceptanceRuns, { namespace: "default" });
    const found = items.find(({ metadata }) => metadata.name === name);
    if (found !== undefined) return found;
    await sleep(host.clock, 20);
  }
}

/** What an operator reports, one status after another. */
async function report(name: string, ...statuses: readonly RunStatus[]): Promise<AcceptanceRun> {
  const run = await runNamed(name);
  for (const each of statuses) {
    await client.patch(acceptanceRuns, { name, namespace: "default" }, { status: each }, { subresource: "status" });
    await sleep(host.clock, 50);
  }
  return run;
}

const counts = { passed: 0, failed: 0, skipped: 0 };
const finishedAt = "2026-01-01T00:00:00Z";
const passed = { name: "create-and-use", state: "Passed", seconds: 13 } as const;

test("a run is created for a kind, each check is printed once, and a pass exits with 0", async () => {
  const args = ["--name", "good", "--version", "3.5.16", "--check", "create-and-use", "--check-timeout", "90"];
  const running = accept("toys", ...args);
  const run = await report(
    "good",
    { ...counts, phase: "Running", checks: [passed, { name: "binding", state: "Running" }] },
    {
      ...{ ...counts, passed: 1, skipped: 1, phase: "Passed", finishedAt },
      checks: [passed, { name: "binding", state: "Skipped", seconds: 0, message: "the engine has no users" }],
    },
  );
  const { code, out, err } = await running;
  expect(out).toBe(
    [
      "AcceptanceRun default/good of Toy",
      "create-and-use          passed     13 s",
      "binding                 skipped     0 s  the engine has no users",
      "Passed: 1 passed, 0 failed, 1 skipped",
      "",
    ].join("\n"),
  );
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(run.spec).toEqual({
    target: { apiGroup: "accept.setpoint.dev", kind: "Toy" },
    version: "3.5.16",
    checks: ["create-and-use"],
    checkTimeoutSeconds: 90,
  });
});

test("a run of a file that fails exits with 1, and its line has the reason", async () => {
  const file = join(folder, "run.yaml");
  const object = { apiVersion: `${group}/${version}`, kind, metadata: { name: "bad" } };
  writeFileSync(file, JSON.stringify({ ...object, spec: { target: { apiGroup: "a", kind: "B" } } }));
  const running = accept(file);
  const failed = { name: "create-and-use", state: "Failed", seconds: 600, message: "20 writes are lost" } as const;
  await report("bad", { ...counts, failed: 1, phase: "Failed", finishedAt, checks: [failed] });
  const { code, out } = await running;
  expect(code).toBe(1);
  expect(out).toContain("create-and-use          failed    600 s  20 writes are lost\nFailed: 0 passed, 1 failed, ");
});

test("a run that the operator refuses exits with 1 and prints the reason", async () => {
  const running = accept("Toy", "--name", "refused", "--version", "9.9.9");
  const message = "spec.version: version 9.9.9 is not supported";
  await report("refused", { ...counts, phase: "Failed", message, finishedAt, checks: [] });
  const { code, out } = await running;
  expect(code).toBe(1);
  expect(out).toContain(`Failed: 0 passed, 0 failed, 0 skipped; ${message}\n`);
});

test("a run that no operator begins, or that is deleted, exits with 1 and says so", async () => {
  const late = await accept("Toy", "--name", "late", "--timeout", "0");
  expect(late).toMatchObject({
    code: 1,
    err: "Cannot follow AcceptanceRun default/late to its end: 0 s are over: no operator has begun the run\n",
  });
  const running = accept("Toy", "--name", "gone");
  await runNamed("gone");
  await client.delete(acceptanceRuns, { name: "gone", namespace: "default" });
  expect(await running).toMatchObject({
    code: 1,
    err: "Cannot follow AcceptanceRun default/gone to its end: it was deleted\n",
  });
});

test("a cluster without the kind AcceptanceRun is named, with what to install", async () => {
  await using bare = await startControlPlane({ host, https: {}, controllers: false });
  const file = join(folder, "bare-kubeconfig");
  writeFileSync(file, bare.kubeconfig());
  const { code, err } = await setpoint("accept", "configmaps", "--kubeconfig", file);
  expect(code).toBe(1);
  expect(err).toContain("the cluster has no kind AcceptanceRun; install an operator that ships acceptance tests");
});

test.each([
  ["an unknown kind", ["nothings"], 1, 'Cannot find resource "nothings": the server does not serve it'],
  ["no kind", [], 2, "expected the name of a kind, or a file"],
  ["a file that is not there", ["none.yaml"], 2, 'Cannot use "none.yaml": no such file'],
  ["a file with another object", [kubeconfig.replace("kubeconfig", "other.yaml")], 2, "expected one AcceptanceRun of"],
  ["a version beside a file", ["none.yaml", "--version", "1.0.0"], 2, "a file names its version in spec.version"],
  ["checks beside a file", ["none.yaml", "--check", "x"], 2, "a file names its checks in spec.checks"],
])("%s is refused with what was expected", async (_, args, code, sentence) => {
  writeFileSync(join(folder, "other.yaml"), "kind: Pod\n");
  const ran = await accept(...args);
  expect(ran.code).toBe(code);
  expect(ran.err).toContain(sentence);
});
