/** EtcdMirrors in the simulated world. What the pod copies is the subject of `mirror/mirror-loop.test.ts`. */
import { Deployment, Pod, Secret } from "setpoint/kinds";
import { conditionOf } from "setpoint/testing";
import { expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import { EtcdMirror } from "./mirror/etcd-mirror.ts";
import { type MirrorRecord, recordKeyOf } from "./mirror/mirror-record.ts";
import { cluster, setUp, type Stage } from "./testing/etcd-stage.ts";

const spec = { source: { cluster: "shop" }, cluster: "orders", prefix: "/a/" };
const record: MirrorRecord = { source: "1", revision: 40, sourceRevision: 42, copies: 1, keys: 7, at: "2026-01-01" };

function endpoint({ etcd }: Stage, name: string): string {
  const [member] = etcd.members(name).filter(({ isServing }) => isServing);
  return `http://${member?.launch.podIp}:2379`;
}

async function begin(seed: number, init: EtcdMirror["spec"] = EtcdMirror({ name: "m", spec }).spec): Promise<Stage> {
  const stage = await setUp(seed);
  const { world } = stage;
  for (const name of ["orders", "shop"]) await world.apply(cluster(name, { size: 1 }));
  await world.settled();
  await world.apply(EtcdMirror({ name: "follow", spec: init }));
  await world.settled();
  return stage;
}

/** As the pod of the mirror does. */
async function report(stage: Stage, text: string): Promise<void> {
  const { world, etcd } = stage;
  const { uid } = (await world.get(EtcdMirror, "follow")).metadata;
  await world.wait(etcd.put(endpoint(stage, "orders"), recordKeyOf(uid), text));
  await world.run(30_000);
}

const ready = async ({ world }: Stage): Promise<object | undefined> =>
  conditionOf(await world.get(EtcdMirror, "follow"), "Ready");
const pods = async ({ world }: Stage): Promise<readonly Pod[]> =>
  (await world.list(Pod)).filter(({ metadata }) => metadata.name.startsWith("follow-mirror"));
const recordIsGone = async (stage: Stage, uid: string): Promise<boolean> =>
  !(await stage.world.wait(stage.etcd.keys(endpoint(stage, "orders")))).has(recordKeyOf(uid));

test("a mirror has one pod, and its status is what the pod has recorded", async () => {
  const stage = await begin(1);
  const { world } = stage;
  await using _ = world;
  expect(await ready(stage)).toMatchObject({ status: "False", reason: "Starting" });
  const [pod] = await pods(stage);
  expect(pod?.spec).toMatchObject({ automountServiceAccountToken: false });
  const request = JSON.parse(pod?.spec?.containers[0]?.env?.[0]?.value ?? "{}") as object;
  expect(request).toMatchObject({
    source: ["http://shop-client.default.svc:2379"],
    destination: ["http://orders-client.default.svc:2379"],
    ...{ prefix: "/a/", destinationPrefix: "/a/", replacesKeys: false },
  });
  await report(stage, JSON.stringify({ ...record, revision: 0, copies: 0 }));
  expect(await ready(stage)).toMatchObject({ status: "False", reason: "Copying" });
  await report(stage, JSON.stringify(record));
  expect(await ready(stage)).toMatchObject({ status: "True", reason: "Following" });
  expect((await world.get(EtcdMirror, "follow")).status).toMatchObject({
    ...{ phase: "Following", revision: 40, sourceRevision: 42, lagRevisions: 2, copies: 1, keys: 7 },
  });
  const problem = { reason: "SourceUnreachable", message: "no member answers" };
  await report(stage, JSON.stringify({ ...record, problem }));
  expect(await ready(stage)).toMatchObject({ status: "False", ...problem });
  await report(stage, "not a record");
  expect(await ready(stage)).toMatchObject({ status: "False", reason: "Starting" });
  await world.expectQuiet();
});

test("a mirror that follows an idle source writes no status for its signs of life", async () => {
  const stage = await begin(7);
  const { world } = stage;
  await using _ = world;
  await report(stage, JSON.stringify({ ...record, at: "2026-01-01T00:00:00Z" }));
  const { metadata, status } = await world.get(EtcdMirror, "follow");
  await report(stage, JSON.stringify({ ...record, at: "2026-01-01T00:01:00Z" }));
  expect((await world.get(EtcdMirror, "follow")).metadata.resourceVersion).toBe(metadata.resourceVersion);
  await report(stage, JSON.stringify({ ...record, revision: 41, at: "2026-01-01T00:02:00Z" }));
  expect([status?.reportedAt, (await world.get(EtcdMirror, "follow")).status?.reportedAt]).toEqual([
    "2026-01-01T00:00:00Z",
    "2026-01-01T00:02:00Z",
  ]);
});

test("the record is read with the login of a destination that asks for one", async () => {
  const stage = await begin(6);
  const { world, etcd } = stage;
  await using _ = world;
  await world.patch(EtcdCluster, "orders", { spec: { auth: { enabled: true } } });
  await world.settled();
  expect(etcd.members("orders")[0]?.data.auth.enabled).toBe(true);
  await report(stage, JSON.stringify(record));
  expect(await ready(stage)).toMatchObject({ status: "True", reason: "Following" });
});

test("a mirror goes on while its destination, which does not serve, is to get a login", async () => {
  const stage = await begin(8);
  const { world } = stage;
  await using _ = world;
  const [before] = await world.list(Deployment);
  const [member] = (await world.list(Pod)).filter(({ metadata }) => metadata.name.startsWith("orders-"));
  world.failNode(member?.spec?.nodeName ?? "");
  await world.patch(EtcdCluster, "orders", { spec: { auth: { enabled: true } } });
  await world.run(30_000);
  expect(await ready(stage)).toMatchObject({
    reason: "Waiting",
    message: expect.stringContaining("has no login of root yet"),
  });
  expect((await world.list(Deployment))[0]?.metadata.uid).toBe(before?.metadata.uid);
});

test("a mirror that writes is reported as following, although the operator's clock is an hour ahead", async () => {
  const stage = await begin(9);
  const { world } = stage;
  await using _ = world;
  world.jumpOperatorClock(3_600_000);
  await report(stage, JSON.stringify({ ...record, at: new Date(world.host.clock.now()).toISOString() }));
  expect(await ready(stage)).toMatchObject({ status: "True", reason: "Following" });
  await world.run(240_000);
  expect(await ready(stage)).toMatchObject({ status: "False", reason: "NotReporting" });
});

test("a pod that is killed comes back, and the status says so meanwhile", async () => {
  const stage = await begin(2);
  const { world } = stage;
  await using _ = world;
  await report(stage, JSON.stringify(record));
  const [pod] = await pods(stage);
  await world.delete(Pod, pod?.metadata.name ?? "");
  await world.until("a new pod", async () => {
    const [next] = await pods(stage);
    return next !== undefined && next.metadata.uid !== pod?.metadata.uid;
  });
  await world.settled();
  expect(await ready(stage)).toMatchObject({ status: "True", reason: "Following" });
});

test("a mirror that is deleted takes its pod and its record along, and leaves the keys", async () => {
  const stage = await begin(3);
  const { world, etcd } = stage;
  await using _ = world;
  const { uid } = (await world.get(EtcdMirror, "follow")).metadata;
  await report(stage, JSON.stringify(record));
  await world.wait(etcd.put(endpoint(stage, "orders"), "/a/copied", "1"));
  await world.delete(EtcdMirror, "follow");
  await world.settled();
  expect(await world.list(EtcdMirror)).toEqual([]);
  expect(await world.list(Deployment)).toEqual([]);
  expect(await pods(stage)).toEqual([]);
  expect(await recordIsGone(stage, uid)).toBe(true);
  expect((await world.wait(etcd.keys(endpoint(stage, "orders")))).get("/a/copied")).toBe("1");
  await world.expectQuiet();
});

test("a mirror without its clusters waits, and begins when they are there", async () => {
  const stage = await begin(4, EtcdMirror({ name: "m", spec: { ...spec, source: { cluster: "later" } } }).spec);
  const { world } = stage;
  await using _ = world;
  expect(await ready(stage)).toMatchObject({ reason: "Waiting", message: 'EtcdCluster "later" does not exist' });
  expect(await world.list(Deployment)).toEqual([]);
  await world.apply(cluster("later", { size: 1 }));
  await world.settled();
  expect((await world.list(Deployment)).length).toBe(1);
});

test("endpoints of an external source that cannot be used start no pod", async () => {
  const external = { endpoints: ["https://root:canary@10.0.0.7:2379"] };
  const stage = await begin(5, EtcdMirror({ name: "m", spec: { ...spec, source: { external } } }).spec);
  await using _ = stage.world;
  const condition = JSON.stringify(await ready(stage));
  expect(condition).toContain("spec.source.external.endpoints[0] has a login in it");
  expect(condition).not.toContain("canary");
  expect(await stage.world.list(Deployment)).toEqual([]);
});

test("a login is sent to an external source only while its Secret has the label", async () => {
  const external = { endpoints: ["https://10.0.0.7:2379"], loginSecret: "legacy-login" };
  const stage = await begin(7, EtcdMirror({ name: "m", spec: { ...spec, source: { external } } }).spec);
  const { world } = stage;
  await using _ = world;
  expect(await ready(stage)).toMatchObject({
    reason: "SecretNotFound",
    message: expect.stringContaining("legacy-login") as string,
  });
  const stringData = { username: "root", password: "canary" };
  await world.apply(Secret({ name: "legacy-login", stringData }));
  await world.run(10_000);
  const label = "data.setpoint.dev/external-login";
  expect(await ready(stage)).toMatchObject({
    status: "False",
    reason: "SecretNotLabelled",
    message: expect.stringContaining(`kubectl label secret legacy-login --namespace=default ${label}=true`) as string,
  });
  expect(await world.list(Deployment)).toEqual([]);
  await world.patch(Secret, "legacy-login", { metadata: { labels: { [label]: "true" } } });
  await world.run(10_000);
  expect(await pods(stage)).toHaveLength(1);
  await world.patch(Secret, "legacy-login", { metadata: { labels: { [label]: null } } });
  await world.run(60_000);
  expect(await pods(stage)).toEqual([]);
  expect(await ready(stage)).toMatchObject({ reason: "SecretNotLabelled" });
});

test("a cluster cannot be mirrored into itself", () => {
  expect(() => EtcdMirror({ name: "m", spec: { ...spec, source: { cluster: "orders" } } })).toThrow(
    "cannot be mirrored into itself",
  );
});

test("mirrors whose cluster is missing keep no other one of their circle from beginning", async () => {
  const stage = await begin(
    8,
    EtcdMirror({ name: "m", spec: { source: { cluster: "orders" }, cluster: "later" } }).spec,
  );
  const { world } = stage;
  await using _ = world;
  await world.apply(EtcdMirror({ name: "second", spec: { source: { cluster: "later" }, cluster: "shop" } }));
  await world.settled();
  await world.apply(EtcdMirror({ name: "third", spec: { source: { cluster: "shop" }, cluster: "orders" } }));
  await world.settled();
  expect((await world.list(Deployment)).map(({ metadata }) => metadata.name)).toEqual(["third-mirror"]);
  await world.apply(cluster("later", { size: 1 }));
  await world.settled();
  await world.run(60_000);
  expect((await world.list(Deployment)).map(({ metadata }) => metadata.name)).toEqual([
    "follow-mirror",
    "third-mirror",
  ]);
  expect(conditionOf(await world.get(EtcdMirror, "second"), "Ready")).toMatchObject({ reason: "OppositeMirror" });
});

test("of two mirrors in opposite directions the second one is refused until the first one is gone", async () => {
  const stage = await begin(7);
  const { world } = stage;
  await using _ = world;
  await report(stage, JSON.stringify(record));
  await world.run(1_000);
  await world.apply(EtcdMirror({ name: "back", spec: { source: { cluster: "orders" }, cluster: "shop" } }));
  await world.settled();
  const back = async (): Promise<object | undefined> => conditionOf(await world.get(EtcdMirror, "back"), "Ready");
  expect(await back()).toMatchObject({ status: "False", reason: "OppositeMirror" });
  expect(JSON.stringify(await back())).toContain('changes would come back over EtcdMirror \\"follow\\"');
  expect((await world.list(Deployment)).map(({ metadata }) => metadata.name)).toEqual(["follow-mirror"]);
  expect(await ready(stage)).toMatchObject({ status: "True", reason: "Following" });
  await world.delete(EtcdMirror, "follow");
  await world.settled();
  await world.run(30_000);
  expect(await back()).toMatchObject({ reason: "Starting" });
  expect((await world.list(Deployment)).map(({ metadata }) => metadata.name)).toEqual(["back-mirror"]);
});
