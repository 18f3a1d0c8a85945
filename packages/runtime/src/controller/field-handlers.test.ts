import { controller, onChange } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { candy, Candy, createControllerWorld } from "../run/controller-world.fixture.ts";

const key = { name: "lolly", namespace: "default" };

test("a field's handler gets what it handled last and what is wanted now, once for each change", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const changes: string[] = [];
  const handling = controller(Candy, {
    fields: [
      onChange(
        "spec.flavors",
        async ({ old, new: flavors, isFirst }) =>
          void changes.push(`${old?.join() ?? "nothing"} → ${flavors.join()}${isFirst ? " (first)" : ""}`),
      ),
    ],
    reconcile: async () => {},
  });
  const first = world.start([handling]);
  await world.settle(first);
  await world.client.patch(Candy, key, { spec: { flavors: ["lime"] } });
  await world.settle(first);
  await world.client.patch(Candy, key, { metadata: { labels: { other: "change" } } });
  await world.settle(first);
  expect(changes).toEqual(["nothing → mint (first)", "mint → lime"]);

  await world.wait(first.stop());
  const writes = world.writes().length;
  const second = world.start([handling]);
  await world.settle(second);
  expect(changes.length).toBe(2);
  expect(world.writes().length).toBe(writes);
});

test("a change while nobody runs is handled by the next who does, from what was handled last", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const changes: unknown[] = [];
  const handling = controller(Candy, {
    fields: [onChange("spec.flavors", async ({ old, new: flavors }) => void changes.push([old, flavors]))],
    reconcile: async () => {},
  });
  const first = world.start([handling]);
  await world.settle(first);
  await world.wait(first.stop());
  for (const flavor of ["lime", "salt"]) await world.client.patch(Candy, key, { spec: { flavors: [flavor] } });
  await world.settle(world.start([handling]));
  expect(changes.at(-1)).toEqual([["mint"], ["salt"]]);
});

test("a change that arrives while the handler runs is handled after it", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const seen: string[] = [];
  const manager = world.start([
    controller(Candy, {
      fields: [
        onChange("spec.flavors", async ({ new: flavors }) => {
          seen.push(flavors.join());
          if (seen.length === 1) await world.client.patch(Candy, key, { spec: { flavors: ["lime"] } });
        }),
      ],
      reconcile: async () => {},
    }),
  ]);
  await world.settle(manager);
  expect(seen).toEqual(["mint", "lime"]);
});

test("a handler that fails is called again, and those that have succeeded are not", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const calls: string[] = [];
  const manager = world.start([
    controller(Candy, {
      fields: [
        onChange("spec.flavors", async () => void calls.push("flavors")),
        onChange("spec", async () => {
          calls.push("spec");
          if (calls.length < 4) throw new Error("not yet");
        }),
      ],
      reconcile: async () => void calls.push("reconcile"),
    }),
  ]);
  await world.run(60_000);
  await world.settle(manager);
  expect(calls.slice(0, 5)).toEqual(["flavors", "spec", "spec", "spec", "reconcile"]);
  expect(calls.filter((call) => call === "flavors").length).toBe(1);
});

test("a value that is too large to be kept is still told from another", async () => {
  await using world = createControllerWorld();
  const large = (letter: string): string[] => Array.from({ length: 400 }, (_, i) => `${letter}-flavor-${i}`);
  await world.client.create(Candy, candy(...large("a")));
  const changes: unknown[] = [];
  const manager = world.start([
    controller(Candy, {
      fields: [
        onChange(
          "spec.flavors",
          async ({ old, new: flavors, isFirst }) => void changes.push([old, flavors.length, isFirst]),
        ),
      ],
      reconcile: async () => {},
    }),
  ]);
  await world.settle(manager);
  await world.client.patch(Candy, key, { spec: { flavors: large("b") } });
  await world.settle(manager);
  manager.enqueue("candy", key);
  await world.settle(manager);
  expect(changes).toEqual([
    [undefined, 400, true],
    [undefined, 400, false],
  ]);
  const { annotations = {} } = (await world.candy()).metadata;
  expect(JSON.stringify(annotations).length).toBeLessThan(500);
});

test("a copied object has had nothing handled, whatever the copied record says", async () => {
  await using world = createControllerWorld();
  const { spec } = await world.client.create(Candy, candy("mint"));
  const handled: string[] = [];
  const manager = world.start([
    controller(Candy, {
      fields: [
        onChange("spec.flavors", async ({ isFirst }, { metadata }) => void handled.push(`${metadata.name} ${isFirst}`)),
      ],
      reconcile: async () => {},
    }),
  ]);
  await world.settle(manager);
  const { annotations = {} } = (await world.candy()).metadata;
  await world.client.create(Candy, {
    ...Candy({ name: "copy", namespace: "default", spec }),
    metadata: { name: "copy", namespace: "default", annotations },
  });
  await world.settle(manager);
  expect(handled).toEqual(["lolly true", "copy true"]);
});

test("what another process has recorded as handled meanwhile is not overwritten", async () => {
  await using world = createControllerWorld();
  const { metadata } = await world.client.create(Candy, candy("mint"));
  const changes: unknown[] = [];
  const name = "ledger.setpoint.dev/candy.fields";
  const record = JSON.stringify({ uid: metadata.uid, fields: { "spec.flavors": { value: ["salt"] } } });
  const manager = world.start([
    controller(Candy, {
      fields: [
        onChange("spec.flavors", async ({ old, new: flavors }) => {
          changes.push([old, flavors]);
          if (changes.length === 1)
            await world.client.patch(Candy, key, { metadata: { annotations: { [name]: record } } });
        }),
      ],
      reconcile: async () => {},
    }),
  ]);
  await world.run(10_000);
  await world.settle(manager);
  expect(changes).toEqual([
    [undefined, ["mint"]],
    [["salt"], ["mint"]],
  ]);
});

test("a reconcile gets the object as its field handlers have left it", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const seen: string[] = [];
  const manager = world.start([
    controller(Candy, {
      fields: [onChange("spec.flavors", async () => {})],
      reconcile: async (object, { patch }) => {
        if (object.metadata.labels?.["seen"] !== undefined) return;
        // With the revision as precondition, which the record has moved on.
        await patch(object, { metadata: { labels: { seen: "yes" } } }, { unchanged: true });
        seen.push("patched");
      },
    }),
  ]);
  await world.settle(manager);
  expect(seen).toEqual(["patched"]);
  expect(world.host.lines.filter(({ message }) => message.startsWith("Reconcile"))).toEqual([]);
});
