import { sleep } from "@setpoint/host";
import { controller, startManager, type Manager } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { Candy, Fleet } from "../manager/fleet.fixture.ts";

test("with several members each object has one daemon, which has ended before another member starts its own", async () => {
  await using fleet = new Fleet(3);
  const names = Array.from({ length: 30 }, (_, i) => `candy-${i}`);
  for (const name of names)
    await fleet.wait(fleet.client.create(Candy, Candy({ name, namespace: "default", spec: { flavors: [] } })));
  /** By object: who runs its daemon now, and how many did at most. */
  const running = new Map<string, string[]>();
  let most = 0;
  const join = (identity: string): Manager => {
    const { transport, host } = fleet.process(identity);
    const candies = controller(Candy, {
      daemons: {
        async probe({ metadata: { name } }, { signal, clock }) {
          const members = running.get(name) ?? [];
          running.set(name, members);
          members.push(identity);
          most = Math.max(most, members.length);
          await sleep(clock, 1e9, signal).catch(() => {});
          // It takes a while to end.
          await sleep(clock, 2_000);
          members.splice(members.indexOf(identity), 1);
        },
      },
      reconcile: async () => {},
    });
    return startManager({
      ...{ transport, host, controllers: [candies] },
      sharding: { name: "candies", namespace: "default", identity, drainSeconds: 30 },
    });
  };
  const owners = (): readonly string[] => names.map((name) => (running.get(name) ?? []).join());

  const managers = [join("a")];
  await fleet.run(20_000);
  expect(new Set(owners())).toEqual(new Set(["a"]));
  managers.push(join("b"), join("c"));
  await fleet.run(60_000);
  expect(new Set(owners())).toEqual(new Set(["a", "b", "c"]));
  expect(most).toBe(1);
  await fleet.wait(managers[1]?.stop() ?? Promise.resolve());
  await fleet.run(60_000);
  expect(new Set(owners())).toEqual(new Set(["a", "c"]));
  expect(most).toBe(1);
  for (const manager of managers) await fleet.wait(manager.stop());
});
