/** Which claims and Secrets objects may name, and whose data a Restore gets; in the simulated world. */
import { Backup, BackupStore, Restore } from "@setpoint/data-service";
import type { KindRef } from "setpoint";
import { PersistentVolumeClaim, Pod, Secret } from "setpoint/kinds";
import { conditionOf, type World } from "setpoint/testing";
import { describe, expect, test } from "vitest";
import { KeyValueStore } from "./key-value-store.ts";
import { backup, keyValueStore, ordersReference, setUp, storeClaim } from "./testing/key-value-stage.ts";

const label = "data.setpoint.dev/backup-store";
const allowed = { metadata: { labels: { [label]: "true" } } };
const bucket = { bucket: "theirs", credentialsSecret: "named" };
const claim = { claimName: "vault" };
const place = { prefix: "", region: "us-east-1" };

const transferPods = async (world: World): Promise<readonly string[]> =>
  (await world.list(Pod)).map(({ metadata }) => metadata.name).filter((name) => name !== "orders-0");

async function createNamed(world: World, kind: "Secret" | "PersistentVolumeClaim"): Promise<void> {
  if (kind === "Secret") await world.apply(Secret({ name: "named", stringData: { password: "theirs" } }));
  else await world.apply({ ...storeClaim, metadata: { name: "named" } });
}

describe("a BackupStore does not use, before it has the label,", () => {
  test.each<readonly [string, "Secret" | "PersistentVolumeClaim", BackupStore["spec"]]>([
    ["a claim", "PersistentVolumeClaim", { claim: { claimName: "named", prefix: "" } }],
    ["credentials of S3", "Secret", { s3: { ...place, ...bucket } }],
    ["credentials of Google Cloud Storage", "Secret", { gcs: { prefix: "", ...bucket } }],
    [
      "credentials of Azure",
      "Secret",
      { azure: { prefix: "", container: "theirs", endpoint: "https://attacker.invalid", credentialsSecret: "named" } },
    ],
    [
      "encryption keys",
      "Secret",
      { claim: { ...claim, prefix: "" }, encryption: { keySecret: "named", activeKey: "password" } },
    ],
  ])("%s", async (_, kind, spec) => {
    const { world } = await setUp(1);
    await using _world = world;
    await world.apply(storeClaim);
    await createNamed(world, kind);
    await world.apply(BackupStore({ name: "mine", spec }));
    await world.apply(backup("first", { store: "mine" }));
    await world.run(30_000);
    const { status } = await world.get(Backup, "first");
    expect(status?.phase).toBe("Pending");
    expect(status?.message).toBe(
      `${kind} "named" is not used by a BackupStore, because it has no label ${label}=true; to allow it, run: kubectl label ${kind.toLowerCase()} named --namespace=default ${label}=true`,
    );
    expect(await transferPods(world)).toEqual([]);
    const named: KindRef = kind === "Secret" ? Secret : PersistentVolumeClaim;
    await world.patch(named, "named", allowed);
    await world.run(30_000);
    expect(await transferPods(world)).toContain("first-backup-1");
  });
});

describe("a store whose claim lost its label", () => {
  const lost = { metadata: { labels: { [label]: null } } };

  async function withBackup(seed: number): Promise<World> {
    const { world } = await setUp(seed);
    await world.apply(storeClaim);
    await world.apply(backup("first"));
    await world.settled();
    await world.patch(PersistentVolumeClaim, "vault", lost);
    return world;
  }

  test("gives nothing to a Restore", async () => {
    await using world = await withBackup(2);
    const before = await transferPods(world);
    const spec = { instance: ordersReference, source: { backup: "first" }, newInstance: { name: "copy" } };
    await world.apply(Restore({ name: "back", spec }));
    await world.run(30_000);
    expect(await transferPods(world)).toEqual(before);
    expect((await world.get(Restore, "back")).status?.message).toContain(`it has no label ${label}=true`);
    await world.patch(PersistentVolumeClaim, "vault", allowed);
    await world.settled();
    expect((await world.get(Restore, "back")).status?.phase).toBe("Succeeded");
  });

  test("loses no data by the deletion of a Backup", async () => {
    await using world = await withBackup(3);
    await world.delete(Backup, "first");
    await world.run(60_000);
    expect((await transferPods(world)).filter((name) => name.includes("delete"))).toEqual([]);
    await world.patch(PersistentVolumeClaim, "vault", allowed);
    await world.run(120_000);
    expect(await world.list(Backup)).toEqual([]);
  });
});

test("a Restore reads what another namespace has stored only with consent", async () => {
  const { world, transfers } = await setUp(4);
  await using _ = world;
  await world.apply(storeClaim);
  await world.apply(backup("first"));
  await world.settled();
  const { object = "" } = (await world.get(Backup, "first")).status ?? {};
  const theirs = object.replace("/default/", "/payments/");
  const content = transfers.vault.objects.get(object);
  expect(content).toBeDefined();
  if (content !== undefined) transfers.vault.put(theirs, content);
  const before = await transferPods(world);
  const stored = { store: "vault", object: theirs };
  const spec = { instance: ordersReference, source: { stored }, newInstance: { name: "copy" } };
  await world.apply(Restore({ name: "theirs", spec }));
  await world.run(30_000);
  expect(await transferPods(world)).toEqual(before);
  expect((await world.get(Restore, "theirs")).status?.message).toContain(
    'PersistentVolumeClaim "vault" gives no data that are stored for another namespace, because it has no label data.setpoint.dev/other-namespaces=true; to allow it, run: ',
  );
  await world.patch(PersistentVolumeClaim, "vault", {
    metadata: { labels: { "data.setpoint.dev/other-namespaces": "true" } },
  });
  await world.settled();
  expect((await world.get(Restore, "theirs")).status?.phase).toBe("Succeeded");
});

test("an instance does not run on a claim that has the name of its own by chance or on purpose", async () => {
  const { world } = await setUp(5);
  await using _ = world;
  await world.apply({ ...storeClaim, metadata: { name: "data-payments" } });
  await world.apply(keyValueStore("payments"));
  await world.run(30_000);
  const pods = (await world.list(Pod)).map(({ metadata }) => metadata.name);
  expect(pods).not.toContain("payments-0");
  expect(conditionOf(await world.get(KeyValueStore, "payments"), "Available")).toMatchObject({
    reason: "ClaimTaken",
    message: 'PersistentVolumeClaim "data-payments" belongs to another owner: rename the instance, or delete the claim',
  });
});
