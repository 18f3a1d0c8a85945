import type { Transport } from "@setpoint/apimachinery";
import { sleep } from "@setpoint/host";
import { controller } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { candy, Candy, createControllerWorld, Wrapper } from "../run/controller-world.fixture.ts";

const key = { name: "lolly", namespace: "default" };
const mint = { name: "mint", namespace: "default" };

const wrap = controller(Candy, {
  owns: { wrappers: Wrapper },
  desired: ({ spec }) => ({ children: spec.flavors.map((flavor) => Wrapper({ name: flavor, data: { flavor } })) }),
});

test("a write that is done after the server was asked what became of it holds its key back no longer than a look", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  let late: (() => Promise<unknown>) | undefined;
  const overtaking: Transport = {
    async send(request, signal) {
      if (late === undefined && request.method === "PATCH" && request.path.endsWith("/configmaps/mint")) {
        late = () => world.faults.send(request, signal);
        throw new Error("the connection broke before the answer was received");
      }
      const answer = await world.faults.send(request, signal);
      // "It is not there" is on its way when the write is done, and comes after the event of it.
      if (late !== undefined && request.method === "GET" && request.path.endsWith("/configmaps/mint")) {
        await late();
        await sleep(world.host.clock, 100);
      }
      return answer;
    },
  };
  const manager = world.start([wrap], { transport: overtaking });
  await world.run(60_000);
  expect(manager.isQuiet()).toBe(true);
  await world.client.patch(Candy, key, { spec: { flavors: ["lime"] } });
  await world.run(1_000);
  expect((await world.client.listAll(Wrapper)).items.map(({ metadata }) => metadata.name)).toEqual(["lime"]);
  await expect(world.client.get(Wrapper, mint)).rejects.toThrow(/not found/);
});
