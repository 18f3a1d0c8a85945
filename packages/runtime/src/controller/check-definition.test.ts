import { createKind } from "@setpoint/apimachinery";
import { controller, cron, every, type ControllerOptions } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { candy, Candy, createControllerWorld, Wrapper } from "../run/controller-world.fixture.ts";

const reconcile = async (): Promise<void> => {};
const Candy2 = createKind({ group: "example.com", version: "v2", kind: "Candy", plural: "candies", namespaced: true });
const declare = (options: Partial<ControllerOptions<Candy>> & { readonly owns?: readonly (typeof Wrapper)[] }) =>
  controller(Candy, { reconcile, ...options });

test.each([
  ["a name that is none", { name: "my controller" }, 'Cannot use controller "my controller": its name is not one'],
  ["a finalizer without a domain", { finalizer: "mine", cleanup: reconcile }, 'its finalizer "mine" is not qualified'],
  ["no workers", { concurrency: 0 }, "concurrency is 0; expected a whole number, 1 or more"],
  ["half a worker", { concurrency: 0.5 }, "concurrency is 0.5"],
  ["no time", { timeoutMs: 0 }, "timeoutMs is 0; expected milliseconds"],
  ["an interval without an end", { maxReconcileIntervalMs: Infinity }, "more than 0"],
  ["a pace that is none", { rateLimit: { minIntervalMs: -1 } }, "rateLimit.minIntervalMs is -1"],
  ["a burst of nothing", { rateLimit: { minIntervalMs: 1, burst: 0 } }, "rateLimit.burst is 0"],
  ["a budget of nothing", { limits: { deletesPerMinute: 0 } }, "limits.deletesPerMinute is 0"],
  ["a share of more than all", { limits: { childrenChangedShare: 30 } }, "expected a share, more than 0 and at most 1"],
  ["owning its own kind", { owns: [Candy] }, "it owns its own kind Candy"],
  ["owning a kind twice", { owns: [Wrapper, Wrapper] }, "`owns` names ConfigMap twice"],
  [
    "owning and watching a kind",
    { owns: [Wrapper], watches: [Wrapper] },
    "it owns and watches ConfigMap; owning watches already",
  ],
  [
    "owning a kind and watching a part of it",
    { owns: [Wrapper], watches: [{ of: Wrapper, labelSelector: "a=b", wakes: () => [] }] },
    "a kind is cached once for a controller",
  ],
  ["two versions of a kind", { watches: [Candy2] }, "it uses Candy in the versions v1 and v2"],
  [
    "two sources of one name",
    { sources: [every(1_000), every(1_000)] },
    'two of its sources are named "every 1000 ms"',
  ],
])("%s is refused where the controller is declared", (_what, options, problem) => {
  expect(() => declare(options as never)).toThrow(problem);
});

test("owning a kind and being woken by orphans of it is allowed", () => {
  expect(() => declare({ owns: [Wrapper], watches: [{ of: Wrapper, wakes: () => [] }] })).not.toThrow();
});

test("a cron line that never fires is refused where it is written", () => {
  expect(() => declare({ sources: [cron("0 0 30 2 *")] })).toThrow('Cannot use cron line "0 0 30 2 *": it never fires');
});

test("two controllers of one name are refused before anything starts", async () => {
  await using world = createControllerWorld();
  const two = [declare({ name: "sweets" }), controller(Wrapper, { name: "sweets", reconcile })];
  expect(() => world.start(two)).toThrow(
    'Cannot start manager "setpoint": two controllers have the name "sweets"; give one of them another `name`',
  );
});

test("an object of the cache that a reconcile changes stays as it is, and the error says what to do instead", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const manager = world.start([
    controller(Candy, {
      reconcile: async ({ spec }) => {
        (spec.flavors as string[]).push("salt");
      },
    }),
  ]);
  await world.run(1_000);
  const failure = world.host.lines.find(({ message }) => message === "Reconcile failed");
  const error = failure?.fields["error"];
  expect(error).toMatchObject({ code: "ERR_CACHE_CHANGED" });
  expect(String(error)).toContain("Cannot change an object of the cache: all readers share it, so it is frozen; copy");
  expect(manager.informers.informers[0]?.store.get("default/lolly")).toMatchObject({ spec: { flavors: ["mint"] } });
});

test("a child of an owner in another namespace is refused before it is sent", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  world.start([
    controller(Candy, {
      owns: [Wrapper],
      reconcile: async (_object, { apply }) =>
        void (await apply(Wrapper({ name: "w", namespace: "elsewhere", data: {} }))),
    }),
  ]);
  await world.run(1_000);
  expect(world.writes().filter((write) => write.includes("configmaps"))).toEqual([]);
  const texts = world.host.lines.map(({ fields }) => String(fields["error"] ?? ""));
  expect(texts.join("\n")).toContain(
    'Cannot own ConfigMap "w" by Candy "lolly": it is in namespace "elsewhere" and its owner in "default"',
  );
});
