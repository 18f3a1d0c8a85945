import { ConfigMap, PersistentVolume, PersistentVolumeClaim, type Pod, Secret, type Volume } from "@setpoint/api";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
  existsSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { KubeObject } from "@setpoint/apimachinery";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { findObject } from "../cluster/find-object.ts";
import { FakeCluster } from "../cluster/fake-cluster.fixture.ts";
import { NodeVolumes } from "./node-volumes.ts";
import { createPodTokens } from "./token-source.ts";

const facts = {
  podIP: "127.64.0.2",
  hostIP: "127.64.0.1",
  nodeName: "n1",
  hostname: "web",
  cpus: 2,
  memoryBytes: 2 ** 30,
};

class World {
  readonly clock = new VirtualClock(seededRandom(1));
  readonly cluster = new FakeCluster();
  readonly directory = mkdtempSync(join(tmpdir(), "process-node-"));
  readonly volumes: NodeVolumes;
  readonly pulls: [string, boolean, number][] = [];
  pod: Pod;

  constructor(...volumes: Volume[]) {
    onTestFinished(() => rmSync(this.directory, { recursive: true, force: true }));
    this.pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "web", namespace: "shop", uid: "u1", labels: { app: "web", tier: "front" } },
      spec: { containers: [], volumes },
    };
    const tokens = createPodTokens(this.clock, this.cluster.client);
    this.volumes = new NodeVolumes({
      clock: this.clock,
      client: this.cluster.client,
      podDirectory: (uid) => join(this.directory, uid),
      images: {
        has: () => false,
        ensure: async (name, { isFresh, secrets }) => {
          this.pulls.push([name, isFresh, (await secrets()).length]);
          return { rootDirectory: `/images/${name}` };
        },
        pullSecrets: async () => [{ data: {} }],
      },
      memoryDirectory: (uid) => join(this.directory, "memory", uid),
      persistentDirectory: join(this.directory, "volumes"),
      sources: (pod) => ({
        pod,
        facts,
        find: (kind, name) =>
          findObject<ConfigMap | Secret>(this.cluster.client, kind === "Secret" ? Secret : ConfigMap, {
            namespace: "shop",
            name,
          }),
        token: (source) => tokens.token(pod, source),
      }),
      forget: (uid) => tokens.forget(uid),
    });
  }

  configMap(data: Record<string, string>): void {
    this.cluster.add(ConfigMap, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "app", namespace: "shop" },
      data,
    });
  }

  secret(data: Record<string, string>): void {
    this.cluster.add(Secret, { apiVersion: "v1", kind: "Secret", metadata: { name: "app", namespace: "shop" }, data });
  }

  async folder(name = "v"): Promise<string> {
    return (await this.volumes.prepare(this.pod)).get(name)?.source ?? "";
  }
}

/** What a program sees: no names that begin with two dots. */
const files = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => !name.startsWith(".."))
      .map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );

test("an emptyDir is writable for everybody, outlives containers and goes with the pod", async () => {
  const world = new World({ name: "v", emptyDir: {} });
  const folder = await world.folder();
  writeFileSync(join(folder, "kept"), "data");
  expect(await world.folder()).toBe(folder);
  expect(files(folder)).toEqual({ kept: "data" });
  expect(statSync(folder).mode & 0o777).toBe(0o777);
  await world.volumes.remove("u1");
  expect(existsSync(folder)).toBe(false);
});

test("the files of a ConfigMap change all at once, through ..data", async () => {
  const world = new World({ name: "v", configMap: { name: "app" } });
  world.configMap({ a: "1", b: "1" });
  const folder = await world.folder();
  expect(files(folder)).toEqual({ a: "1", b: "1" });
  const before = readlinkSync(join(folder, "..data"));
  expect(readlinkSync(join(folder, "a"))).toBe("..data/a");
  await world.volumes.refresh(world.pod);
  expect(readlinkSync(join(folder, "..data"))).toBe(before);
  world.configMap({ a: "2", c: "2" });
  await world.volumes.refresh(world.pod);
  expect(files(folder)).toEqual({ a: "2", c: "2" });
  expect(readlinkSync(join(folder, "..data"))).not.toBe(before);
  expect(readdirSync(folder).filter((name) => name.startsWith("..")).length).toBe(2);
});

test("a Secret's values are decoded, chosen by items and have the mode asked for", async () => {
  const items = [{ key: "password", path: "deep/in/pass", mode: 0o400 }];
  const world = new World({ name: "v", secret: { secretName: "app", items } });
  world.secret({ password: Buffer.from("s3cret").toString("base64"), other: "" });
  const folder = await world.folder();
  expect(readFileSync(join(folder, "deep/in/pass"), "utf8")).toBe("s3cret");
  expect(statSync(join(folder, "deep/in/pass")).mode & 0o777).toBe(0o400);
  expect(existsSync(join(folder, "other"))).toBe(false);
});

test("a missing ConfigMap or key is an error, unless it is optional", async () => {
  await expect(new World({ name: "v", configMap: { name: "app" } }).folder()).rejects.toThrow(
    'configmap "app" not found',
  );
  expect(files(await new World({ name: "v", configMap: { name: "app", optional: true } }).folder())).toEqual({});
  const world = new World({ name: "v", secret: { secretName: "app", items: [{ key: "nope", path: "x" }] } });
  world.secret({});
  await expect(world.folder()).rejects.toThrow("references non-existent secret key: nope");
});

test("a path that leaves the volume stays in it", async () => {
  const world = new World({ name: "v", configMap: { name: "app", items: [{ key: "a", path: "../../escape" }] } });
  world.configMap({ a: "1" });
  await world.folder().catch(() => {});
  expect(existsSync(join(world.directory, "u1", "escape"))).toBe(false);
  expect(existsSync(join(world.directory, "escape"))).toBe(false);
});

test("downward files follow the pod's labels", async () => {
  const items = [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }];
  const world = new World({ name: "v", downwardAPI: { items } });
  const folder = await world.folder();
  expect(files(folder)).toEqual({ labels: 'app="web"\ntier="front"' });
  const metadata = { ...world.pod.metadata, labels: { app: "new" } };
  await world.volumes.refresh({ ...world.pod, metadata });
  expect(files(folder)).toEqual({ labels: 'app="new"' });
});

test("a projected token is renewed when 80 % of its life is over", async () => {
  const token = { path: "token", expirationSeconds: 3600 };
  const world = new World({ name: "v", projected: { sources: [{ serviceAccountToken: token }] } });
  let asked = 0;
  world.cluster.onSubresource = (request) => {
    const expirationTimestamp = new Date(world.clock.now() + 3_600_000).toISOString();
    return { ...request, status: { token: `token-${++asked}`, expirationTimestamp } } as KubeObject;
  };
  const folder = await world.folder();
  const at = async (seconds: number): Promise<string | undefined> => {
    await world.clock.run(seconds * 1_000);
    await world.volumes.refresh(world.pod);
    return files(folder)["token"];
  };
  expect(await at(0)).toBe("token-1");
  expect(await at(2_800)).toBe("token-1");
  expect(await at(100)).toBe("token-2");
  expect(asked).toBe(2);
});

test("a claim is mounted when it is bound, where its volume says", async () => {
  const world = new World({ name: "v", persistentVolumeClaim: { claimName: "data" } });
  await expect(world.folder()).rejects.toThrow('persistentvolumeclaim "data" not found');
  const metadata = { name: "data", namespace: "shop" };
  const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata };
  world.cluster.add(PersistentVolumeClaim, { ...claim, spec: {} });
  await expect(world.folder()).rejects.toThrow("is not bound yet");
  const path = join(world.directory, "volumes/pv");
  world.cluster.add(PersistentVolumeClaim, { ...claim, spec: { volumeName: "pv" }, status: { phase: "Bound" } });
  world.cluster.add(PersistentVolume, {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: "pv" },
    spec: { hostPath: { path } },
  });
  expect(await world.folder()).toBe(path);
  await world.volumes.remove("u1");
  expect(existsSync(path)).toBe(true);
  const leaving = { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
  world.cluster.add(PersistentVolumeClaim, {
    ...claim,
    metadata: leaving,
    spec: { volumeName: "pv" },
    status: { phase: "Bound" },
  });
  await expect(world.folder()).rejects.toThrow('persistentvolumeclaim "data" is being deleted');
  world.pod = { ...world.pod, status: { phase: "Running" } };
  expect(await world.folder()).toBe(path);
});

test("a volume of an unknown type is refused by name", async () => {
  await expect(new World({ name: "v" }).folder()).rejects.toThrow('Cannot mount volume "v"');
});

test.for([`../../outside`, "/absolute", "a/../../b", "..", "..data", ""])(
  "a file of a volume at %j is refused, and nothing is written",
  async (path) => {
    const world = new World({ name: "v", configMap: { name: "app", items: [{ key: "a", path }] } });
    world.configMap({ a: "1" });
    await expect(world.folder()).rejects.toThrow(`Cannot write file "${path}" of a volume`);
    expect(existsSync(join(world.directory, "u1"))).toBe(false);
  },
);

test("Secrets lie in memory and go with the pod", async () => {
  const world = new World({ name: "v", secret: { secretName: "app" } });
  world.secret({ password: Buffer.from("s3cret").toString("base64") });
  const folder = await world.folder();
  expect(folder.startsWith(join(world.directory, "memory"))).toBe(true);
  await world.volumes.remove("u1");
  expect(existsSync(folder)).toBe(false);
});

test("a folder of the host is no volume, as hostPath or as a persistent volume that is not this node's own", async () => {
  const own = new World({ name: "v", hostPath: { path: "/etc" } });
  expect((await own.volumes.prepare(own.pod)).has("v")).toBe(false);
  for (const path of ["/etc", "volumes/../../etc"]) {
    const world = new World({ name: "v", persistentVolumeClaim: { claimName: "data" } });
    const metadata = { name: "data", namespace: "shop" };
    const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec: { volumeName: "pv" } };
    world.cluster.add(PersistentVolumeClaim, { ...claim, status: { phase: "Bound" } });
    const spec = { hostPath: { path } };
    world.cluster.add(PersistentVolume, { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "pv" }, spec });
    await expect(world.folder()).rejects.toThrow("it is not a folder of this node's own volumes");
  }
});

test("a volume of an image shows its files with the ids of the pod, and pulls it as the pod asks", async () => {
  const world = new World({ name: "data", image: { reference: "data:1", pullPolicy: "Always" } });
  const prepared = await world.volumes.prepare(world.pod);
  expect(prepared.get("data")).toEqual({ source: "/images/data:1", readOnly: true, ownIds: true });
  expect(world.pulls).toEqual([["data:1", true, 1]]);
  const never = new World({ name: "data", image: { reference: "data:1", pullPolicy: "Never" } });
  await expect(never.volumes.prepare(never.pod)).rejects.toThrow("is not present with pull policy of Never");
});
