/**
 * The chart of `setpoint manifests --output helm`, with the genuine helm against the embedded control plane.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ClusterRole, CustomResourceDefinition, Deployment, NetworkPolicy, Service } from "@setpoint/api";
import { createClient } from "@setpoint/client";
import { startControlPlane } from "@setpoint/controlplane";
import { silentLogger } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Kubectl } from "./kubectl/kubectl.ts";

const bin = new URL("../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;
const candy = new URL("../examples/candy/candy.ts", import.meta.url).pathname;
const host = { ...systemHost(), log: silentLogger };
const plane = await startControlPlane({ host, https: {} });
const kubectl = new Kubectl(plane.kubeconfig());
const chart = join(kubectl.folder, "chart");
const client = createClient(plane.transport, host);
afterAll(async () => {
  kubectl[Symbol.dispose]();
  await plane[Symbol.asyncDispose]();
});

beforeAll(() => {
  const args = [bin, "manifests", candy, "--image", "registry.example.com:5000/candy:1.2", "--output", "helm", chart];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(status).toBe(0);
});

async function helm(command: string): Promise<string> {
  const { code, stdout, stderr } = await kubectl.helm(command);
  if (code !== 0) throw new Error(`helm ${command}: ${stderr}${stdout}`);
  return stdout;
}

test("helm lint has no complaint", async () => {
  expect(await helm(`lint --strict ${chart}`)).toContain("0 chart(s) failed");
});

test("helm template gives what the plain manifests give", async () => {
  const text = await helm(`template candy ${chart} --namespace sweets`);
  expect(text).toContain('image: "registry.example.com:5000/candy:1.2"');
  expect(text).toContain("namespace: sweets");
  expect(text).toContain("helm.sh/resource-policy: keep");
  expect(text).not.toContain("helm-value");
  expect(text).not.toContain("kind: ServiceMonitor");
});

test("a chart is installed, upgraded with other values, and uninstalled without its definitions", async () => {
  await helm(`install candy ${chart} --namespace sweets --create-namespace`);
  const key = { name: "candy-operator", namespace: "sweets" };
  expect((await client.get(Deployment, key)).spec?.replicas).toBe(1);
  expect((await client.get(ClusterRole, { name: "candy-operator" })).rules?.length).toBeGreaterThan(3);

  await helm(
    `upgrade candy ${chart} --namespace sweets --set replicas=2,networkPolicy.enabled=true,metricsService.enabled=true,tolerations[0].operator=Exists`,
  );
  const { spec } = await client.get(Deployment, key);
  expect(spec?.replicas).toBe(2);
  expect(spec?.template.spec?.tolerations).toEqual([{ operator: "Exists" }]);
  expect((await client.get(NetworkPolicy, key)).spec?.policyTypes).toEqual(["Ingress"]);
  expect((await client.get(Service, { ...key, name: "candy-operator-metrics" })).spec?.ports?.[0]?.port).toBe(8443);

  await helm("uninstall candy --namespace sweets");
  await expect(client.get(ClusterRole, { name: "candy-operator" })).rejects.toMatchObject({ code: 404 });
  const crd = await client.get(CustomResourceDefinition, { name: "candies.examples.setpoint.dev" });
  expect(crd.spec.names.kind).toBe("Candy");
});

test("24 2.7: charts have env, volumes, volumeMounts and resources values", async () => {
  const values = kubectl.file(
    "values.yaml",
    `
env:
- {name: LOG_FORMAT, value: json}
- name: PASSWORD
  valueFrom: {secretKeyRef: {name: candy, key: password}}
volumes: [{name: work, emptyDir: {}}]
volumeMounts: [{name: work, mountPath: /work}]
resources: {limits: {memory: 256Mi}}
`,
  );
  await helm(`lint --strict ${chart} --values ${values}`);
  await helm(
    `install valued ${chart} --namespace valued --create-namespace --set crds.install=false --values ${values}`,
  );
  const { spec } = await client.get(Deployment, { name: "candy-operator", namespace: "valued" });
  const [container] = spec?.template.spec?.containers ?? [];
  expect(container?.env?.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["POD_NAME", "POD_IP", "LOG_FORMAT", "PASSWORD"]),
  );
  expect(container?.env?.at(-1)?.valueFrom).toEqual({ secretKeyRef: { name: "candy", key: "password" } });
  expect(container?.volumeMounts).toEqual([{ name: "work", mountPath: "/work" }]);
  expect(container?.resources).toMatchObject({ limits: { memory: "256Mi" } });
  expect(spec?.template.spec?.volumes).toEqual([{ name: "work", emptyDir: {} }]);
  await helm("uninstall valued --namespace valued");
});
