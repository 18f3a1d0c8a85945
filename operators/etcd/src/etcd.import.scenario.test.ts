/** The data of an etcd that the operator does not run, in a new cluster of the simulated world. */
import { Backup, Restore, RestoreDrill, simulatedIssuer } from "@setpoint/data-service";
import { Pod, Secret } from "setpoint/kinds";
import { EtcdModel, simulate, simulatedOperatorImage, TransferModel, type World } from "setpoint/testing";
import { expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import { etcdOperator } from "./etcd-operator.ts";
import { claims, cluster } from "./testing/etcd-stage.ts";
import { vault } from "./testing/store-vault.ts";
import { simulatedGateway } from "./testing/simulated-gateway.ts";

interface Stage {
  readonly world: World;
  readonly etcd: EtcdModel;
  /** Where the foreign etcd answers, which has the key "a". */
  readonly endpoints: readonly string[];
}

const legacy = { apiGroup: "etcd.setpoint.dev", kind: "EtcdCluster", name: "legacy" };

/** The foreign etcd is that of another cluster; what matters is that it is named by its address alone. */
async function setUp(seed: number): Promise<Stage> {
  const etcd = new EtcdModel();
  const transfers = new TransferModel({
    etcd: (from) => etcd.snapshot((from as { readonly endpoints: readonly string[] }).endpoints),
  });
  const world = await simulate({
    seed,
    models: [etcd, transfers],
    operators: [
      (process) => etcdOperator(simulatedGateway(etcd, process), {}, simulatedOperatorImage, simulatedIssuer),
    ],
  });
  for (const object of vault) await world.apply(object);
  await world.apply(cluster("foreign", { ...claims, size: 1 }));
  await world.settled();
  const endpoints = etcd.members("foreign").map(({ launch }) => `http://${launch.podIp}:2379`);
  await world.wait(etcd.put(endpoints[0] ?? "", "a", "1"));
  return { world, etcd, endpoints };
}

async function backUp(world: World, external: Backup["spec"]["external"]): Promise<Backup["status"]> {
  await world.apply(Backup({ name: "taken", spec: { instance: legacy, store: "vault", external } }));
  await world.settled();
  return (await world.get(Backup, "taken")).status;
}

async function restore(world: World, spec: Partial<EtcdCluster["spec"]>): Promise<Restore["status"]> {
  const newInstance = { name: "orders", spec: { size: 1, tls: { mode: "Disabled" }, ...claims, ...spec } };
  await world.apply(Restore({ name: "move", spec: { instance: legacy, source: { backup: "taken" }, newInstance } }));
  await world.settled();
  return (await world.get(Restore, "move")).status;
}

function secret(name: string, keys: readonly string[], labels: Readonly<Record<string, string>> = {}): Secret {
  return Secret({ name, labels, stringData: Object.fromEntries(keys.map((key) => [key, "canary"])) });
}

const externalLogin = "data.setpoint.dev/external-login";
const allowed = { [externalLogin]: "true" };
const transferPods = async (world: World): Promise<readonly string[]> =>
  (await world.list(Pod)).map(({ metadata }) => metadata.name).filter((name) => name.startsWith("taken"));

test("a new cluster gets the data of an etcd that is named by its endpoints", async () => {
  const { world, etcd, endpoints } = await setUp(1);
  await using _ = world;
  await world.apply(secret("foreign-root", ["username", "password"], allowed));
  const taken = await backUp(world, { endpoints: [...endpoints], loginSecret: "foreign-root" });
  expect(taken).toMatchObject({ phase: "Succeeded", engineVersion: "3.4.23" });
  expect(taken?.object).toMatch(/^etcdcluster\/default\/legacy\/external\//);
  expect(taken?.instanceUID).toBeUndefined();
  const pod = (await world.list(Pod)).find(({ metadata }) => metadata.name === "taken-backup-1");
  expect(JSON.stringify(pod?.spec?.volumes)).toContain('"secretName":"foreign-root"');
  expect(await restore(world, { version: "3.4.23" })).toMatchObject({ phase: "Succeeded" });
  const [member] = etcd.members("orders");
  const keys = await world.wait(etcd.keys(`http://${member?.launch.podIp}:2379`));
  expect(Object.fromEntries(keys)).toEqual({ a: "1" });
  expect(etcd.violations).toEqual([]);
  await world.expectQuiet();
});

test("a cluster of a version that cannot start on the data is never created", async () => {
  const { world, endpoints } = await setUp(2);
  await using _ = world;
  await backUp(world, { endpoints: [...endpoints] });
  const status = await restore(world, { version: "3.6.4" });
  expect(status?.phase).toBe("Failed");
  expect(status?.message).toContain("the data are of etcd 3.4.23, and 3.6.4 cannot start on them");
  expect((await world.list(EtcdCluster)).map(({ metadata }) => metadata.name)).toEqual(["foreign"]);
});

test("endpoints that are no URLs fail at once, and start no pod", async () => {
  const { world } = await setUp(3);
  await using _ = world;
  const status = await backUp(world, { endpoints: ["https://root:canary@10.0.0.7:2379"] });
  expect(status?.phase).toBe("Failed");
  expect(status?.message).toContain("endpoints[0] has a login in it");
  expect(status?.message).not.toContain("canary");
  expect(await transferPods(world)).toEqual([]);
});

const clientTls = ["ca.crt", "tls.crt", "tls.key"];
const login = ["username", "password"];

test.each([
  ["a login", { loginSecret: "foreign" }, login, {}],
  ["a login, although another label has this value", { loginSecret: "foreign" }, login, { app: "true" }],
  ["a login with another value of the label", { loginSecret: "foreign" }, login, { [externalLogin]: "false" }],
  ["a login in place of certificates", { tlsSecret: "foreign" }, login, {}],
  ["a private key", { tlsSecret: "foreign" }, clientTls, {}],
])("%s is sent to no endpoint before its Secret has the label", async (_, named, keys, labels) => {
  const { world } = await setUp(7);
  await using _world = world;
  await world.apply(secret("foreign", keys, labels));
  const external = { endpoints: ["https://10.255.0.1:2379"], ...named };
  await world.apply(Backup({ name: "taken", spec: { instance: legacy, store: "vault", external } }));
  await world.run(30_000);
  const { status } = await world.get(Backup, "taken");
  expect(status?.phase).toBe("Pending");
  expect(status?.message).toBe(
    'Secret "foreign" is not sent to an external instance, because it has no label data.setpoint.dev/external-login=true; to allow it, run: kubectl label secret foreign --namespace=default data.setpoint.dev/external-login=true',
  );
  expect(await transferPods(world)).toEqual([]);
  await world.patch(Secret, "foreign", { metadata: { labels: allowed } });
  await world.run(30_000);
  expect(await transferPods(world)).toContain("taken-backup-1");
});

test("an authority that a client needs is public, and its Secret needs no label", async () => {
  const { world } = await setUp(8);
  await using _ = world;
  await world.apply(secret("authority", ["ca.crt"]));
  await world.apply(
    Backup({
      name: "taken",
      spec: {
        instance: legacy,
        store: "vault",
        external: {
          endpoints: ["https://10.255.0.1:2379"],
          tlsSecret: "authority",
        },
      },
    }),
  );
  await world.run(10_000);
  expect(await transferPods(world)).toEqual(["taken-backup-1"]);
});

test("a Secret that is created later, without the label, is not sent either", async () => {
  const { world } = await setUp(9);
  await using _ = world;
  const external = { endpoints: ["https://10.255.0.1:2379"], loginSecret: "later" };
  await world.apply(Backup({ name: "taken", spec: { instance: legacy, store: "vault", external } }));
  await world.run(30_000);
  expect((await world.get(Backup, "taken")).status?.message).toBe('Secret "later" does not exist');
  await world.apply(secret("later", login));
  await world.run(30_000);
  expect((await world.get(Backup, "taken")).status?.message).toContain("it has no label");
  expect(await transferPods(world)).toEqual([]);
});

test("an etcd that does not answer fails the Backup, with the reason", async () => {
  const { world } = await setUp(4);
  await using _ = world;
  const status = await backUp(world, { endpoints: ["http://10.255.0.1:2379"] });
  expect(status?.phase).toBe("Failed");
  expect(status?.message).toMatch(/^SourceUnreachable: /);
});

test("a drill of an instance does not restore data from elsewhere that were filed under its name", async () => {
  const { world, endpoints } = await setUp(5);
  await using _ = world;
  await backUp(world, { endpoints: [...endpoints] });
  await world.apply(RestoreDrill({ name: "proof", spec: { instance: legacy, schedule: "*/5 * * * *" } }));
  await world.run(600_000);
  expect(await world.list(Restore)).toEqual([]);
  const [outcome] = (await world.get(RestoreDrill, "proof")).status?.history ?? [];
  expect(outcome?.message).toContain("has no backup that was verified");
});

test("where a Backup takes its data from cannot be changed", async () => {
  const { world, endpoints } = await setUp(6);
  await using _ = world;
  await backUp(world, { endpoints: [...endpoints] });
  const moved = Backup({
    name: "taken",
    spec: { instance: legacy, store: "vault", external: { endpoints: ["http://10.255.0.1:2379"] } },
  });
  await expect(world.apply(moved)).rejects.toThrow("immutable");
});
