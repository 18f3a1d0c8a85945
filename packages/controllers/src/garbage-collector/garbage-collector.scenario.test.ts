import { ConfigMap } from "@setpoint/api";
import { simulate, type World } from "@setpoint/testing";
import { describe, expect, test } from "vitest";

const minute = 60_000;

type Propagation = "Foreground" | "Background" | "Orphan";

test("an object whose owner never existed is collected; one whose owner has another UID too", async () => {
  await using world = await simulate({ seed: 7 });
  const owner = await world.apply(ConfigMap({ name: "owner", namespace: "default" }));
  const owned = (name: string, uid: string): ConfigMap =>
    ConfigMap({
      name,
      namespace: "default",
      ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }],
    });
  await world.apply(owned("kept", owner.metadata.uid));
  await world.apply(owned("stranger", "00000000-0000-4000-8000-000000000000"));
  const names = async (): Promise<readonly string[]> =>
    (await world.list(ConfigMap))
      .filter((each) => each.metadata.namespace === "default")
      .map((each) => each.metadata.name);
  await world.until("the end of the stranger", async () => !(await names()).includes("stranger"));
  expect(await names()).toContain("kept");
  await world.delete(ConfigMap, "owner");
  await world.until("the end of the dependent", async () => !(await names()).includes("kept"));
});

/** ConfigMaps of which each owns the next one, and the last owns the first. */
async function circle(world: World, length: number): Promise<readonly string[]> {
  const names = Array.from({ length }, (_, i) => `circle-${i}`);
  const made: ConfigMap[] = [];
  for (const name of names) made.push(await world.apply(ConfigMap({ name, namespace: "default" })));
  for (const [i, name] of names.entries()) {
    const owner = made[(i + length - 1) % length]?.metadata;
    const reference = { apiVersion: "v1", kind: "ConfigMap", name: owner?.name ?? "", uid: owner?.uid ?? "" };
    await world.patch(ConfigMap, name, {
      metadata: { ownerReferences: [{ ...reference, blockOwnerDeletion: true }] },
    });
  }
  return names;
}

function deleteAs(world: World, name: string, propagationPolicy: Propagation): Promise<unknown> {
  return world.wait(world.client.delete(ConfigMap, { name, namespace: "default" }, { propagationPolicy }));
}

describe.each<Propagation>(["Foreground", "Background", "Orphan"])(
  "deleted with %s propagation",
  (propagationPolicy) => {
    test.each([1, 2, 3, 4, 5])("a circle of %i owners ends, and then the world is quiet", async (length) => {
      await using world = await simulate({ seed: 20 + length });
      const names = await circle(world, length);
      const left = async (): Promise<number> =>
        (await world.list(ConfigMap)).filter((each) => names.includes(each.metadata.name ?? "")).length;
      await deleteAs(world, names[0] ?? "", propagationPolicy);
      const expected = propagationPolicy === "Orphan" ? length - 1 : 0;
      await world.until("the end of the circle", async () => (await left()) === expected);
      await world.expectQuiet();
    });
  },
);

test("dependents that change while they are orphaned stay", async () => {
  await using world = await simulate({ seed: 28 });
  const { uid } = (await world.apply(ConfigMap({ name: "owner", namespace: "default" }))).metadata;
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
  const names = Array.from({ length: 20 }, (_, i) => `dependent-${i}`);
  for (const name of names) await world.apply(ConfigMap({ name, namespace: "default", ownerReferences }));
  await deleteAs(world, "owner", "Orphan");
  for (let change = 0; change < 5; change++)
    for (const name of names) await world.patch(ConfigMap, name, { data: { change: String(change) } });
  await world.run(minute);
  const left = (await world.list(ConfigMap)).map((each) => each.metadata.name);
  expect(left).not.toContain("owner");
  expect(left).toEqual(expect.arrayContaining(names));
});

test("a dependent that is not part of a circle still goes before its owner", async () => {
  await using world = await simulate({ seed: 26 });
  const owner = await world.apply(ConfigMap({ name: "owner", namespace: "default" }));
  const { uid } = owner.metadata;
  const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid, blockOwnerDeletion: true };
  const dependent = ConfigMap({ name: "dependent", namespace: "default", ownerReferences: [reference] });
  const { uid: middle } = (await world.apply(dependent)).metadata;
  const held = { apiVersion: "v1", kind: "ConfigMap", name: "dependent", uid: middle, blockOwnerDeletion: true };
  const finalizers = ["example.com/hold"];
  await world.apply(ConfigMap({ name: "last", namespace: "default", ownerReferences: [held], finalizers }));
  await deleteAs(world, "owner", "Foreground");
  await world.run(minute);
  const names = (await world.list(ConfigMap)).map((each) => each.metadata.name);
  expect(names).toEqual(expect.arrayContaining(["owner", "dependent", "last"]));
  await world.patch(ConfigMap, "last", { metadata: { finalizers: null } });
  await world.until("the end of the owner", async () =>
    (await world.list(ConfigMap)).every((each) => each.metadata.name !== "owner"),
  );
});

test("an owner that waits goes when its dependent blocks it no longer", async () => {
  await using world = await simulate({ seed: 27 });
  const { metadata } = await world.apply(ConfigMap({ name: "owner", namespace: "default" }));
  const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: metadata.uid, blockOwnerDeletion: true };
  const finalizers = ["example.com/hold"];
  await world.apply(ConfigMap({ name: "dependent", namespace: "default", ownerReferences: [reference], finalizers }));
  await deleteAs(world, "owner", "Foreground");
  await world.run(minute);
  expect((await world.get(ConfigMap, "owner")).metadata.deletionTimestamp).toBeDefined();
  await world.patch(ConfigMap, "dependent", { metadata: { ownerReferences: null } });
  await world.until("the end of the owner", async () =>
    (await world.list(ConfigMap)).every((each) => each.metadata.name !== "owner"),
  );
});
