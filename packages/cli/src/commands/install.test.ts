import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ClusterRole, type ContainerState, Deployment, Pod, type PodStatus } from "@setpoint/api";
import { createClient } from "@setpoint/client";
import { startControlPlane } from "@setpoint/controlplane";
import { silentLogger, sleep } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { afterAll, expect, test } from "vitest";
import { ownFolder, root } from "../own-folder.fixture.ts";
import { findReleaseOperator } from "../release/release-operators.ts";
import { setpoint } from "../setpoint.fixture.ts";

const host = { ...systemHost(), log: silentLogger };
const plane = await startControlPlane({ host, https: {}, controllers: true });
afterAll(() => plane[Symbol.asyncDispose]());
const client = createClient(plane.transport, host);
const kubeconfig = join(ownFolder("install"), "kubeconfig");
writeFileSync(kubeconfig, plane.kubeconfig(), { mode: 0o600 });
const namespace = "setpoint-system";
const name = "etcd-operator";
const ownImage = findReleaseOperator("etcd")?.image ?? "";

/** Plays the kubelet for the pod with an image, as soon as there is one. */
async function reportContainer(image: string, state: ContainerState, ready: boolean): Promise<void> {
  for (;;) {
    const { items } = await client.listAll(Pod, { namespace });
    const pod = items.find(({ spec }) => spec?.containers[0]?.image === image);
    if (pod === undefined) {
      await sleep(host.clock, 20);
      continue;
    }
    const status: PodStatus = {
      phase: ready ? "Running" : "Pending",
      conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
      containerStatuses: [{ name: "operator", image: "", imageID: "", ready, restartCount: 0, state }],
    };
    await client.updateStatus(Pod, { ...pod, status });
    return;
  }
}

const install = (...more: readonly string[]) => setpoint("install", "etcd", "--kubeconfig", kubeconfig, ...more);

test("install says which image the nodes cannot get, and how they get it", async () => {
  const waiting = { reason: "ImagePullBackOff", message: "no such host" };
  const [ran] = await Promise.all([install(), reportContainer(ownImage, { waiting }, false)]);
  expect(ran.out).toContain("Deployment setpoint-system/etcd-operator is applied\n");
  expect(ran.err).toMatch(
    /Cannot start Deployment setpoint-system\/etcd-operator: Pod setpoint-system\/etcd-operator-\S+: ImagePullBackOff: no such host\. The nodes have no image "setpoint\.dev\/etcd-operator:\S+": bring it to the nodes \("setpoint build etcd --image REGISTRY\/NAME:TAG" writes it into an archive\), and repeat with the same --image\n$/,
  );
  expect(ran.code).toBe(1);
});

test("install repeated with another image waits for the pod with that image", async () => {
  const image = "registry.example.com/etcd-operator:1";
  const running = install("--image", image);
  await reportContainer(image, { running: {} }, true);
  const { code, out, err } = await running;
  expect(err).not.toContain("Cannot");
  expect(out).toMatch(
    /Deployment setpoint-system\/etcd-operator is available, image registry\.example\.com\/etcd-operator:1\n$/,
  );
  expect(code).toBe(0);
});

test("install of the image from before, after one that no node has, waits for a pod of the image asked for", async () => {
  const wrong = "registry.example.com/etcd-operator:2";
  const waiting = { reason: "ErrImagePull", message: "no such image" };
  const [refused] = await Promise.all([install("--image", wrong), reportContainer(wrong, { waiting }, false)]);
  expect(refused.err).toContain(`The nodes have no image "${wrong}"`);
  const { code, err } = await install("--image", "registry.example.com/etcd-operator:1");
  expect(err).not.toContain("Cannot");
  expect(code).toBe(0);
});

test("install gives up after --timeout and says what the pod waits for", async () => {
  await client.delete(Deployment, { namespace, name }, { propagationPolicy: "Foreground" });
  while ((await client.listAll(Pod, { namespace })).items.length > 0) await sleep(host.clock, 20);
  const { code, err } = await install("--timeout", "1");
  expect(err).toMatch(/Cannot start Deployment setpoint-system\/etcd-operator: not available after 1 s: Pod \S+: /);
  expect(code).toBe(1);
});

test("uninstall takes away what install has brought, from the same namespace", async () => {
  const { code, out } = await setpoint("uninstall", "etcd", "--yes", "--kubeconfig", kubeconfig);
  expect(out).toContain("Deployment setpoint-system/etcd-operator is deleted\n");
  expect(code).toBe(0);
  await expect(client.get(ClusterRole, { name })).rejects.toMatchObject({ code: 404 });
});

test.each([
  ["etcd", "install.yaml"],
  ["service-bindings", "service-bindings.yaml"],
])("the manifests of %s are those of %s", async (operator, file) => {
  const committed = readFileSync(join(root, "operators/etcd/manifests", file), "utf8");
  expect((await setpoint("manifests", operator)).out).toBe(committed.replace(/^#.*\n/, ""));
});

test("a name that no operator has is refused with the names that there are", async () => {
  const { code, err } = await setpoint("install", "etc", "--kubeconfig", kubeconfig);
  expect(err).toMatch(
    /^Cannot install "etc": no such file, and no operator of this release; it has compliance-probe, etcd, hateful-set, postgres, prometheus, service-bindings\n/,
  );
  expect(code).toBe(2);
});
