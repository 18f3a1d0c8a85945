import { PersistentVolume, PersistentVolumeClaim, type Pod, StorageClass } from "@setpoint/api";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { silentLogger } from "@setpoint/host";
import { FakeCluster } from "../cluster/fake-cluster.fixture.ts";
import { createFolderProvisioner, folderProvisionerName } from "./folder-provisioner.ts";

const key = { namespace: "shop", name: "data" };
const pod: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "shop", uid: "u1" },
  spec: { containers: [], volumes: [{ name: "v", persistentVolumeClaim: { claimName: "data" } }] },
};

function world(reclaimPolicy: "Delete" | "Retain", nodeName = "n1") {
  const directory = mkdtempSync(join(tmpdir(), "process-node-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const cluster = new FakeCluster();
  const provisioner = createFolderProvisioner({ client: cluster.client, log: silentLogger, nodeName, directory });
  const meta = { name: "fast" };
  const provided = { provisioner: folderProvisionerName, reclaimPolicy };
  cluster.add(StorageClass, { apiVersion: "storage.k8s.io/v1", kind: "StorageClass", metadata: meta, ...provided });
  const claim = (storageClassName = "fast") =>
    cluster.add(PersistentVolumeClaim, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: key,
      spec: { storageClassName, accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    });
  const volumes = async () => (await cluster.client.listAll(PersistentVolume)).items;
  return { directory, cluster, provisioner, claim, volumes };
}

test("a claim of a pod gets a folder of this node", async () => {
  const { directory, cluster, provisioner, claim, volumes } = world("Delete");
  const { uid } = claim().metadata;
  await provisioner.provision(pod);
  await provisioner.provision(pod);
  const [volume] = await volumes();
  expect((await volumes()).length).toBe(1);
  expect(volume).toMatchObject({
    metadata: { name: `pvc-${uid}` },
    spec: {
      capacity: { storage: "1Gi" },
      claimRef: { ...key, uid },
      hostPath: { path: join(directory, `pvc-${uid}`) },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ values: ["n1"] }] }] } },
    },
    status: { phase: "Bound" },
  });
  expect(await cluster.client.get(PersistentVolumeClaim, key)).toMatchObject({
    spec: { volumeName: `pvc-${uid}` },
    status: { phase: "Bound" },
  });
  expect(existsSync(join(directory, `pvc-${uid}`))).toBe(true);
});

test("a claim of another class is left alone", async () => {
  const { provisioner, claim, volumes } = world("Delete");
  claim("other");
  await provisioner.provision(pod);
  expect(await volumes()).toEqual([]);
});

test("when the claim is gone, Delete removes folder and volume", async () => {
  const { directory, cluster, provisioner, claim, volumes } = world("Delete");
  const { uid } = claim().metadata;
  await provisioner.provision(pod);
  writeFileSync(join(directory, `pvc-${uid}`, "data"), "x");
  await provisioner.reclaim();
  expect((await volumes()).length).toBe(1);
  cluster.remove(PersistentVolumeClaim, key);
  await provisioner.reclaim();
  expect(await volumes()).toEqual([]);
  expect(existsSync(join(directory, `pvc-${uid}`))).toBe(false);
});

test("when the claim is gone, Retain keeps both and says Released", async () => {
  const { directory, cluster, provisioner, claim, volumes } = world("Retain");
  const { uid } = claim().metadata;
  await provisioner.provision(pod);
  cluster.remove(PersistentVolumeClaim, key);
  await provisioner.reclaim();
  expect(await volumes()).toMatchObject([{ status: { phase: "Released" } }]);
  expect(existsSync(join(directory, `pvc-${uid}`))).toBe(true);
});

test("a new claim of the same name does not get the old data", async () => {
  const { cluster, provisioner, claim, volumes } = world("Delete");
  const old = claim().metadata.uid;
  await provisioner.provision(pod);
  cluster.remove(PersistentVolumeClaim, key);
  const fresh = claim().metadata.uid;
  await provisioner.provision(pod);
  await provisioner.reclaim();
  expect(old).not.toBe(fresh);
  expect((await volumes()).map(({ metadata }) => metadata.name)).toEqual([`pvc-${fresh}`]);
});

test("volumes of other nodes are theirs to reclaim", async () => {
  const { cluster, provisioner, claim, volumes } = world("Delete");
  claim();
  await provisioner.provision(pod);
  cluster.remove(PersistentVolumeClaim, key);
  const other = createFolderProvisioner({
    client: cluster.client,
    log: silentLogger,
    nodeName: "n2",
    directory: "/nonexistent",
  });
  await other.reclaim();
  expect((await volumes()).length).toBe(1);
});
