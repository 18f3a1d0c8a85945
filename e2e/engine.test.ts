/**
 * An operator without code: the chart of examples/chart, rendered by the genuine helm, against the embedded
 * control plane.
 */
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { startControlPlane, type ControlPlane } from "@setpoint/controlplane";
import { silentLogger } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { findBinary } from "./kubectl/binaries.ts";
import { Kubectl } from "./kubectl/kubectl.ts";

const bin = new URL("../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;
const example = new URL("../examples/chart/", import.meta.url).pathname;
const helm = helmOrReason();
if ("reason" in helm) console.warn(`skipped: a chart as an operator: ${helm.reason}`);

function helmOrReason(): { readonly path: string } | { readonly reason: string } {
  try {
    return { path: findBinary("helm") };
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error) };
  }
}

const host = { ...systemHost(), log: silentLogger };
let folder = "";
let plane: ControlPlane | undefined;
let kubectl: Kubectl;
let said = "";
let stop: (() => Promise<void>) | undefined;

beforeAll(async () => {
  if ("reason" in helm) return;
  folder = mkdtempSync(join(tmpdir(), "setpoint-engine-"));
  plane = await startControlPlane({ host, https: {} });
  kubectl = new Kubectl(plane.kubeconfig());
  cpSync(example, folder, { recursive: true });
  writeFileSync(join(folder, "kubeconfig"), plane.kubeconfig(), { mode: 0o600 });
  const child = spawn(process.execPath, [bin, "run", "engine.yaml", "--kubeconfig", "kubeconfig"], {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: "", PATH: `${dirname(helm.path)}${delimiter}${process.env["PATH"] ?? ""}` },
    stdio: ["ignore", "ignore", "pipe"],
  });
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  stop = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  await vi.waitFor(() => expect(said).toContain('"message":"Ready"'), { timeout: 30_000 });
});

afterAll(async () => {
  await stop?.();
  kubectl?.[Symbol.dispose]();
  await plane?.[Symbol.asyncDispose]();
  if (folder !== "") rmSync(folder, { recursive: true });
});

const until = (command: string, wanted: unknown): Promise<void> =>
  vi.waitFor(async () => expect(await kubectl.ok(command)).toEqual(wanted), { timeout: 30_000, interval: 200 });

const page = "get configmap home-page -o jsonpath={.data.index\\.html}";

test.skipIf("reason" in helm)(
  "a release a Site: installed, changed, upgraded with its chart, and taken away",
  async () => {
    const site = readFileSync(join(folder, "site.yaml"), "utf8");
    await kubectl.ok("apply -f -", [], { input: site });
    await until(page, "<h1>Hello</h1>");
    expect(await kubectl.ok("get deployment home -o jsonpath={.spec.replicas}")).toBe("1");
    expect(await kubectl.ok("get deployment home -o jsonpath={..volumes[0].configMap.defaultMode}")).toBe("420");
    // No node runs here: the object says what it waits for.
    await until(
      "get site home -o jsonpath={.status.conditions[?(@.type=='Ready')].message}",
      'Deployment "home": 0 of 1 replicas are up to date and ready',
    );

    await kubectl.ok("patch site home --type=merge -p", ['{"spec":{"title":"Moin","replicas":0}}']);
    await until(page, "<h1>Moin</h1>");
    // The chart wants no Deployment without replicas: it is pruned.
    await until("get deployments -o name", "");
    await until("get site home --no-headers", expect.stringMatching(/^home +True +Desired state reached\n$/));

    const template = join(folder, "chart/templates/config-map.yaml");
    writeFileSync(template, readFileSync(template, "utf8").replaceAll("h1>", "h2>"));
    await kubectl.ok("annotate site home upgraded=yes");
    await kubectl.ok("delete configmap home-page");
    await until(page, "<h2>Moin</h2>");

    writeFileSync(template, "{{ fail .Values.title }}");
    await kubectl.ok("patch site home --type=merge -p", ['{"spec":{"title":"the cake is a lie"}}']);
    await until(
      "get site home -o jsonpath={.status.conditions[?(@.type=='Rendered')].message}",
      expect.stringMatching(/^Cannot run "helm template home .*": it ended with code 1: Error: [^]*the cake is a lie/),
    );
    expect(await kubectl.ok(page)).toBe("<h2>Moin</h2>");

    await kubectl.ok("delete site home");
    await until("get configmaps -o name", "configmap/kube-root-ca.crt\n");
  },
);
