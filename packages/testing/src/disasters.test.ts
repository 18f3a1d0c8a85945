import { Deployment, Node, Pod } from "@setpoint/api";
import { expect, test } from "vitest";
import { simulate, type World } from "./index.ts";

const labels = { app: "web" };
const web = Deployment({
  name: "web",
  spec: {
    replicas: 3,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } },
  },
});

async function ready(world: World): Promise<number> {
  return (await world.get(Deployment, "web")).status?.readyReplicas ?? 0;
}

async function nodeOfSomePod(world: World): Promise<string> {
  const [pod] = await world.list(Pod);
  return pod?.spec?.nodeName ?? "";
}

test("pods of a node without power are replaced elsewhere after five minutes, and end when it is back", async () => {
  await using world = await simulate({ seed: 3 });
  await world.apply(web);
  await world.settled();
  const node = await nodeOfSomePod(world);
  world.failNode(node);
  await world.run(60_000);
  const { status } = await world.get(Node, { name: node });
  expect(status?.conditions).toMatchObject([{ type: "Ready", status: "Unknown" }]);
  expect(await ready(world)).toBeLessThan(3);

  await world.until("three are ready elsewhere", async () => (await ready(world)) === 3, { within: 400_000 });
  const stuck = (await world.list(Pod)).filter(({ spec }) => spec?.nodeName === node);
  expect(stuck.length).toBeGreaterThan(0);
  expect(stuck.every(({ metadata }) => metadata.deletionTimestamp !== undefined)).toBe(true);

  await world.recoverNode(node);
  await world.settled();
  expect((await world.list(Pod)).filter(({ spec }) => spec?.nodeName === node)).toEqual([]);
});

test("a node that is back in time goes on with its pods", async () => {
  await using world = await simulate({ seed: 4 });
  await world.apply(web);
  await world.settled();
  const names = (await world.list(Pod)).map(({ metadata }) => metadata.name);
  const node = await nodeOfSomePod(world);
  world.failNode(node);
  await world.run(100_000);
  await world.recoverNode(node);
  await world.until("three are ready", async () => (await ready(world)) === 3);
  expect((await world.list(Pod)).map(({ metadata }) => metadata.name)).toEqual(names);
});
