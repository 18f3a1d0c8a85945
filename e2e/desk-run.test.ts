/**
 * What `setpoint run` leaves in a cluster, and how it gets along with an installation of the same operator.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { startControlPlane } from "@setpoint/controlplane";
import { silentLogger } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { Kubectl } from "./kubectl/kubectl.ts";
import { setpointProgram } from "./kubectl/page-commands.ts";
import { runProgram } from "./operator-project.ts";

const podsets = new URL("desk-run/podsets.ts", import.meta.url).pathname;
const host = { ...systemHost(), log: silentLogger };
const plane = await startControlPlane({ host, https: {} });
const kubectl = new Kubectl(plane.kubeconfig());
afterAll(async () => {
  kubectl[Symbol.dispose]();
  await plane[Symbol.asyncDispose]();
});

/** Starts the operator on the desk; resolves when it is ready. */
async function run(): Promise<ChildProcess> {
  return (await runWithLog()).operator;
}

async function runWithLog(...more: string[]): Promise<{ readonly operator: ChildProcess; readonly log: () => string }> {
  const args = [setpointProgram, "run", podsets, "--port", "0", ...more];
  const operator = spawn(process.execPath, args, { env: kubectl.env, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void operator.kill("SIGKILL"));
  let log = "";
  for (const stream of [operator.stdout, operator.stderr]) stream.on("data", (text) => (log += String(text)));
  await expect.poll(() => log, { timeout: 30_000 }).toContain('"Ready"');
  return { operator, log: () => log };
}

async function end(operator: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const ended = once(operator, "close");
  operator.kill(signal);
  await ended;
}

const podSet = (name: string, replicas: number): string =>
  `{apiVersion: examples.setpoint.dev/v1, kind: PodSet, metadata: {name: ${name}, namespace: default}, spec: {replicas: ${replicas}}}`;
const configurations = (): Promise<string> =>
  kubectl.ok("get validatingwebhookconfigurations,mutatingwebhookconfigurations -o name");
const clientConfig = (): Promise<string> =>
  kubectl.ok("get crd podsets.examples.setpoint.dev -o jsonpath={.spec.conversion.webhook.clientConfig}");

async function manifests(): Promise<string> {
  const { text, code } = await runProgram(process.execPath, [setpointProgram, "manifests", podsets], "/");
  expect(code).toBe(0);
  return text;
}

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("a run that ends by %s leaves no webhook", async (signal) => {
  const operator = await run();
  expect(await configurations()).toMatch(/podsets-webhooks-desk\n.*podsets-webhooks-desk\n$/);
  expect((await kubectl.run("create -f -", [], { input: podSet("even", 2) })).stderr).toContain("must be odd");
  await end(operator, signal);
  expect(await configurations()).toBe("");
  expect(await clientConfig()).toBe("");
});

test.each([
  ["kubectl apply", "apply -f -"],
  ["kubectl apply --server-side", "apply --server-side --force-conflicts -f -"],
])("%s of the manifests works after a run that was killed", async (_, apply) => {
  await kubectl.ok("delete crd podsets.examples.setpoint.dev --ignore-not-found");
  await end(await run(), "SIGKILL");
  expect(await clientConfig()).toContain('"url":"https://127.0.0.1');
  await kubectl.ok(apply, [], { input: await manifests() });
  expect(JSON.parse(await clientConfig())).toMatchObject({ service: { name: "podsets-operator" } });
  expect(await clientConfig()).not.toContain("url");
  expect(await configurations()).toContain("/podsets-webhooks\n");
  await kubectl.ok("delete --ignore-not-found -f -", [], { input: await manifests() });
});

test("a run beside an installation takes the conversion for its time, and gives it back", async () => {
  await kubectl.ok("apply -f -", [], { input: await manifests() });
  const before = await clientConfig();
  const operator = await run();
  expect(await clientConfig()).toContain('"url":"https://127.0.0.1');
  await end(operator, "SIGTERM");
  expect(JSON.parse(await clientConfig())).toEqual(JSON.parse(before));
  const served = await kubectl.ok("get crd podsets.examples.setpoint.dev -o jsonpath={.spec.versions[*].served}");
  expect(served).toBe("true true");
});

test("a run beside a copy in the cluster is reported by both, and by an Event", async () => {
  await kubectl.ok("create namespace ops");
  const replica = await runWithLog("--lease-namespace", "ops");
  const desk = await runWithLog();
  await expect.poll(desk.log, { timeout: 20_000 }).toContain("The operator also runs in the cluster");
  await expect.poll(replica.log, { timeout: 20_000 }).toContain("The operator also runs on a desk");
  const events = (): Promise<string> =>
    kubectl.ok("get events -n ops --field-selector reason=RunsOnDeskToo -o jsonpath={.items[*].message}");
  await expect.poll(events, { timeout: 20_000 }).toContain("both copies change the same objects");
  await end(desk.operator, "SIGTERM");
  await end(replica.operator, "SIGTERM");
});
