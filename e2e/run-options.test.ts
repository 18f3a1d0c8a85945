/**
 * 24 2.4 and 2.9: several namespaces, ports, log level and lease are reached from `setpoint run` and from
 * generated manifests. The operator runs as a process with the account that its manifests make.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { ClusterRole, ConfigMap, Deployment, Lease, Namespace, Role } from "@setpoint/api";
import type { KubeObject } from "@setpoint/apimachinery";
import { createClient } from "@setpoint/client";
import { startControlPlane } from "@setpoint/controlplane";
import { silentLogger } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import { Candy } from "../examples/candy/candy.ts";
import { Kubectl } from "./kubectl/kubectl.ts";

const bin = new URL("../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;
const program = new URL("../examples/candy/candy.ts", import.meta.url).pathname;
const flags = ["--log-level", "debug", "--port", "18084", "--lease-duration", "30"];
const host = { ...systemHost(), log: silentLogger };
const plane = await startControlPlane({ host, https: {} });
const kubectl = new Kubectl(plane.kubeconfig());
const client = createClient(plane.transport, host);
let manifests = "";
/** The operator's process, when it has started. */
const started: ChildProcess[] = [];
let log = "";

afterAll(async () => {
  for (const operator of started) operator.kill("SIGKILL");
  kubectl[Symbol.dispose]();
  await plane[Symbol.asyncDispose]();
});

beforeAll(async () => {
  const args = ["manifests", program, "--namespace", "ops", "--watch", "a", "--watch", "b", ...flags];
  const { stdout, stderr } = spawnSync(process.execPath, [bin, ...args], { encoding: "utf8" });
  expect(stderr).toBe("");
  manifests = stdout;
  for (const name of ["a", "b", "c"]) await client.create(Namespace, Namespace({ name }));
  await kubectl.ok("apply --server-side -f -", [], { input: manifests });
  const token = (await kubectl.ok("create token candy-operator -n ops")).trim();
  const config = parse(plane.kubeconfig()) as { users: { user: object }[] };
  config.users = config.users.map((each) => ({ ...each, user: { token } }));
  const kubeconfig = kubectl.file("operator-kubeconfig", stringify(config), 0o600);
  const where = ["--namespace", "a", "--namespace", "b", "--lease-namespace", "ops"];
  const own = ["--kubeconfig", kubeconfig, "--require-rights", ...where, ...flags];
  const operator = spawn(process.execPath, [bin, "run", program, ...own], { stdio: ["ignore", "pipe", "pipe"] });
  started.push(operator);
  for (const stream of [operator.stdout, operator.stderr]) stream.on("data", (text) => (log += String(text)));
});

test("24 2.4: manifests for several namespaces have a Role in each, and nothing of them for the whole cluster", () => {
  const objects = parseAllDocuments(manifests).map((each) => each.toJS() as KubeObject);
  const resourcesOf = (object: KubeObject): readonly string[] =>
    ((object as Role).rules ?? []).flatMap(({ resources = [] }) => resources);
  const roles = objects.filter(({ kind }) => kind === Role.kind);
  expect(roles.map(({ metadata }) => metadata.namespace)).toEqual(["ops", "a", "b"]);
  expect(roles.map(resourcesOf).map((each) => each.includes("configmaps"))).toEqual([false, true, true]);
  const cluster = objects.find(({ kind }) => kind === ClusterRole.kind);
  expect(cluster === undefined ? [] : resourcesOf(cluster)).toEqual(["tokenreviews", "subjectaccessreviews"]);
  const [container] =
    (objects.find(({ kind }) => kind === "Deployment") as Deployment).spec?.template.spec?.containers ?? [];
  expect(container?.args).toEqual(["--namespace", "a", "--namespace", "b", ...flags]);
  expect(container?.livenessProbe?.httpGet?.port).toBe(18_084);
});

test("24 2.4: setpoint run looks at the namespaces that it is given, with the rights of their Roles alone", async () => {
  for (const namespace of ["c", "a", "b"])
    await client.create(Candy, Candy({ name: "lolly", namespace, spec: { name: "lolly" } }));
  const wrapped = async (namespace: string): Promise<boolean> =>
    (await client.listAll(ConfigMap, { namespace })).items.some(({ metadata }) => metadata.name === "lolly-wrapper");
  await expect.poll(() => Promise.all([wrapped("a"), wrapped("b")]), { timeout: 20_000 }).toEqual([true, true]);
  expect(await wrapped("c")).toBe(false);
  expect(log).not.toContain("Right is missing");
});

test("24 2.4: the lease and the port are those of the flags", async () => {
  expect((await client.get(Lease, { name: "candy", namespace: "ops" })).spec?.leaseDurationSeconds).toBe(30);
  expect((await fetch("http://127.0.0.1:18084/healthz")).status).toBe(200);
});

test("24 2.9: the log level is that of the flag", async () => {
  expect(await (await fetch("http://127.0.0.1:18084/debug/log-level")).text()).toBe("debug\n");
});

test("a flag that cannot be used is refused with what is wanted", () => {
  const refusalOf = (...args: readonly string[]): string =>
    spawnSync(process.execPath, [bin, "run", program, ...args], { encoding: "utf8" }).stderr;
  expect(refusalOf("--log-level", "loud")).toContain(
    "Cannot use --log-level loud: expected one of debug, info, warn, error",
  );
  expect(refusalOf("--lease-duration", "2")).toContain("Cannot use --lease-duration 2: expected 5 to 3600 seconds");
});

test("the process stops with its signal", async () => {
  const [operator] = started;
  operator?.kill("SIGTERM");
  if (operator?.exitCode === null) await once(operator, "exit");
  expect(operator?.exitCode).toBe(0);
});
