import { Deployment, Service } from "setpoint/kinds";
import { conditionOf, simulate, type World } from "setpoint/testing";
import { expect, test } from "vitest";
import { WebApp, webAppOperator } from "./web-app.ts";

/** A registrar that notes whatever it is asked to do. */
async function setUp(seed: number): Promise<{ readonly world: World; readonly asked: string[] }> {
  const asked: string[] = [];
  const known = new Set<string>();
  const note = async (what: string, key: string): Promise<string> => {
    asked.push(what);
    known.add(key);
    return "203.0.113.7";
  };
  const operator = webAppOperator({
    find: async (key) => (known.has(key) ? "203.0.113.7" : undefined),
    register: (key, host) => note(`register ${host}`, key),
    remove: (key, host) => note(`remove ${host}`, key),
  });
  const world = await simulate({ seed, operators: [operator] });
  await world.apply(WebApp({ name: "shop", spec: { image: "shop:1", host: "shop.example.com" } }));
  return { world, asked };
}

test("an app is deployed, registered once and says that it is ready", async () => {
  const { world, asked } = await setUp(1);
  await using _ = world;
  await world.settled();
  const app = await world.get(WebApp, "shop");
  expect(app.status).toMatchObject({ readyReplicas: 2, address: "203.0.113.7" });
  expect(conditionOf(app, "Ready")).toMatchObject({ status: "True", observedGeneration: 1 });
  expect((await world.get(Service, "shop")).spec?.ports?.[0]?.targetPort).toBe(8080);
  expect(asked).toEqual(["register shop.example.com"]);
  await world.expectQuiet({ hours: 2 });
});

test.each(["before", "after"] as const)("an app outlives an operator that dies %s any of its writes", async (when) => {
  for (let write = 1; write <= 12; write++) {
    const { world, asked } = await setUp(write);
    await using _ = world;
    world.crashOperatorAt(write, when);
    await world.settled();
    await world.patch(WebApp, "shop", { spec: { replicas: 3 } });
    await world.settled();
    expect((await world.get(WebApp, "shop")).status?.readyReplicas).toBe(3);
    await world.delete(WebApp, "shop");
    await world.settled();
    expect([...(await world.list(WebApp)), ...(await world.list(Deployment))]).toEqual([]);
    expect(asked).toEqual(["register shop.example.com", "remove shop.example.com"]);
  }
});
