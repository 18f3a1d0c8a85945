/**
 * The operator that projects bindings into workloads, installed by its manifest with its own rights and
 * without any database operator: both kinds of binding reach a pod that runs, and unbinding removes them.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Deployment, Pod, Secret } from "@setpoint/api";
import { startCluster } from "@setpoint/cli";
import { type Client, createClient } from "@setpoint/client";
import { dataLabels, ServiceBinding, WorkloadBinding } from "@setpoint/data-service";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { applyFile } from "../examples/etcd/install.ts";
import { operatorImage } from "../tools/image/operator-image.ts";

const manifests = new URL("../operators/etcd/manifests/service-bindings.yaml", import.meta.url).pathname;
const namespace = "default";
const waitFor = <T>(look: () => Promise<T>): Promise<T> => vi.waitFor(look, { timeout: 60_000, interval: 200 });

const parts = new AsyncDisposableStack();
let client: Client;
beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), "setpoint-e2e-"));
  parts.defer(() => rmSync(directory, { recursive: true }));
  const cluster = parts.use(
    await startCluster({ directory: join(directory, "data"), port: 0, nodes: 1, say: () => {} }),
  );
  client = createClient(cluster.transport, cluster.host);
  await applyFile(client, manifests);
});
afterAll(() => parts.disposeAsync());

/** A workload that ends as soon as it has read the token of each binding that it needs. */
function reader(name: string, folders: readonly string[]): Deployment {
  const files = folders.map((folder) => `/${folder}/token`);
  const script = `const { readFileSync } = require("node:fs");
    const tokens = ${JSON.stringify(files)}.map((file) => readFileSync(process.env.SERVICE_BINDING_ROOT + file, "utf8"));
    require("node:http").createServer((_, answer) => answer.end(tokens.join())).listen(8000);`;
  const labels = { app: name };
  const container = {
    name: "main",
    image: operatorImage,
    command: ["node", "-e", script],
    readinessProbe: { httpGet: { path: "/", port: 8_000 }, periodSeconds: 1 },
  };
  const template = { metadata: { labels }, spec: { containers: [container] } };
  return Deployment({ name, namespace, spec: { replicas: 1, selector: { matchLabels: labels }, template } });
}

const login = (name: string): Secret =>
  Secret({
    ...{ name, namespace, type: "servicebinding.io/test" },
    labels: { [dataLabels.workloadBinding]: "true" },
    stringData: { type: "test", token: `token of ${name}` },
  });

const templateOf = async (name: string): Promise<string> =>
  JSON.stringify((await client.get(Deployment, { name, namespace })).spec?.template);

async function untilReady(name: string): Promise<void> {
  await waitFor(async () => {
    const { status } = await client.get(Deployment, { name, namespace });
    const { items } = await client.list(Pod, { namespace, labelSelector: `app=${name}` });
    expect(status?.availableReplicas, JSON.stringify(items.map((pod) => pod.status?.containerStatuses))).toBe(1);
  });
}

test("a binding of servicebinding.io gives a workload a Secret, and takes it back", async () => {
  await client.create(Secret, login("shop-login"));
  await client.create(Deployment, reader("shop", ["shop"]));
  const service = { apiVersion: "v1", kind: "Secret", name: "shop-login" };
  const workload = { apiVersion: "apps/v1", kind: "Deployment", name: "shop" };
  await client.create(WorkloadBinding, WorkloadBinding({ name: "shop", namespace, spec: { service, workload } }));
  await untilReady("shop");
  const { status } = await client.get(WorkloadBinding, { name: "shop", namespace });
  expect(status?.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }));
  expect(JSON.stringify(status)).not.toContain("token of");
  await client.delete(WorkloadBinding, { name: "shop", namespace });
  await waitFor(async () => expect(await templateOf("shop")).not.toContain("shop-login"));
});

test("spec.workload of a binding of ours does the same with the Secret that an engine has published", async () => {
  await client.create(Secret, login("till-login"));
  await client.create(Deployment, reader("till", ["till"]));
  const instance = { apiGroup: "etcd.setpoint.dev", kind: "EtcdCluster", name: "orders" };
  const workload = { apiVersion: "apps/v1", kind: "Deployment", name: "till" };
  const key = { name: "till", namespace };
  await client.create(ServiceBinding, ServiceBinding({ ...key, spec: { instance, workload } }));
  // As the operator of the database does.
  await client.patch(ServiceBinding, key, { status: { binding: { name: "till-login" } } }, { subresource: "status" });
  await untilReady("till");
  await waitFor(async () =>
    expect((await client.get(ServiceBinding, key)).status?.conditions).toContainEqual(
      expect.objectContaining({ type: "Projected", status: "True" }),
    ),
  );
  await client.delete(ServiceBinding, key);
  await waitFor(async () => expect(await templateOf("till")).not.toContain("till-login"));
});
