/**
 * Runs of all forbidden acts in pods of `setpoint up`, by the manifest of the operator: what is denied there,
 * and what a namespace without limits and policies allows.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCluster } from "@setpoint/cli";
import { type Client, createClient } from "@setpoint/client";
import { ComplianceProbe } from "../operators/compliance-probe/src/index.ts";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { applyFile } from "../examples/etcd/install.ts";
import {
  actsOf,
  createProbes,
  createStrictNamespace,
  createVault,
  isVaultReady,
  type ProbeStatus,
  strictNamespace,
} from "./compliance/probes.ts";
import { runProgram } from "./operator-project.ts";

const manifests = new URL("../operators/compliance-probe/manifests/install.yaml", import.meta.url).pathname;
const bin = new URL("../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;
const runMsMax = 150_000;

const parts = new AsyncDisposableStack();
let client: Client;
let folder: string;
let kubeconfig: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-e2e-"));
  parts.defer(() => rmSync(folder, { recursive: true }));
  const cluster = parts.use(await startCluster({ directory: join(folder, "data"), port: 0, nodes: 1, say: () => {} }));
  client = createClient(cluster.transport, cluster.host);
  kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
  await applyFile(client, manifests);
  await createProbes(client);
  await createVault(client);
  await vi.waitFor(async () => expect(await isVaultReady(client)).toBe(true), { timeout: runMsMax, interval: 200 });
  await createStrictNamespace(client);
});
afterAll(() => parts.disposeAsync());

/** After the first run. */
async function statusOf(name: string, namespace = "default"): Promise<ProbeStatus> {
  return vi.waitFor(
    async () => {
      const { status } = await client.get(ComplianceProbe, { name, namespace });
      if (status?.lastRun === undefined || status.results === undefined)
        throw new Error(`the probe "${name}" has no results: ${JSON.stringify(status?.conditions)}`);
      return status;
    },
    { timeout: runMsMax, interval: 500 },
  );
}

const unnamed = ["denied-service-resolve", "denied-service-reach"];

test("a pod that asks for nothing is denied all acts but those that its own settings must forbid", async () => {
  const status = await statusOf("plain");
  expect(status.lastRun?.failure).toBeUndefined();
  expect(actsOf(status, "Allowed")).toEqual(["ptrace", "new-privileges", "memory-limit"]);
  expect(actsOf(status, "Untried")).toEqual(unnamed);
});

const openToAll = { name: "open", namespace: "default", spec: { deniedServices: ["vault.default.svc:9000"] } };

test("without a policy the denied service is reached, so that it is the policy which denies it", async () => {
  const acts = ["denied-service-reach"];
  await client.create(ComplianceProbe, ComplianceProbe({ ...openToAll, spec: { ...openToAll.spec, acts } }));
  expect(actsOf(await statusOf("open"), "Allowed")).toEqual(acts);
});

test("root of a container is denied what leads to the host", async () => {
  const status = await statusOf("root");
  expect(actsOf(status, "Untried")).toEqual(unnamed);
  expect(actsOf(status, "Allowed"), JSON.stringify(status.results)).toEqual([
    ...["root-write", "ptrace", "raw-socket", "packet-socket", "new-privileges", "memory-limit"],
  ]);
});

test("in a strict namespace Pod Security refuses strong pods, and a policy the denied service", async () => {
  const status = await statusOf("strict", strictNamespace);
  const reasonOf = (act: string): string | undefined => status.results?.find((each) => each.act === act)?.reason;
  expect(actsOf(status, "Untried"), JSON.stringify(status.results)).toEqual([]);
  expect(actsOf(status, "Allowed")).toEqual(["ptrace", "denied-service-resolve"]);
  expect(reasonOf("pod-host-network")).toMatch(/violates PodSecurity/);
  expect(status.conditions).toContainEqual(
    expect.objectContaining({ type: "Compliant", status: "True", reason: "AllowedAccepted" }),
  );
});

test("the tool runs a probe again, and tells a pipeline by its code", async () => {
  await statusOf("strict", strictNamespace);
  const check = (...args: readonly string[]): ReturnType<typeof runProgram> =>
    runProgram(process.execPath, ["--conditions=@setpoint/source", bin, "compliance", "check", ...args], folder, {
      KUBECONFIG: kubeconfig,
    });
  const strictly = await check("strict", "--namespace", strictNamespace, "--run", "--sarif", "report.sarif");
  expect(strictly).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, "report.sarif"), "utf8")).toContain('"version": "2.1.0"');
  const plain = await check("plain");
  expect(plain).toMatchObject({ code: 1 });
  expect(plain.text).toContain("Allowed memory-limit");
  expect(await check("none")).toMatchObject({ code: 2 });
});
