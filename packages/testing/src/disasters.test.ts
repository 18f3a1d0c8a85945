import { Deployment, Node, PersistentVolumeClaim, Pod } from "@setpoint/api";
import { expect, test } from "vitest";
import { type Launch, type ProgramModel, simulate, type World } from "./index.ts";

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

/** Counts in a file on its volume how often it was started. */
class Counting implements ProgramModel {
  readonly counts: unknown[] = [];
  alive = 0;

  runs(): boolean {
    return true;
  }

  start({ volumes, ready, exited }: Launch): ReturnType<ProgramModel["start"]> {
    const files = volumes.get("/data")?.files;
    const count = Number(files?.get("starts") ?? 0) + 1;
    files?.set("starts", count);
    this.counts.push(count);
    this.alive++;
    ready(true);
    let isRunning = true;
    const end = (): void => {
      if (!isRunning) return;
      isRunning = false;
      this.alive--;
      exited(137);
    };
    return { terminate: end, kill: end };
  }
}

const claim = PersistentVolumeClaim({
  name: "disk",
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
});
const counter = Pod({
  name: "counter",
  spec: {
    containers: [{ name: "counter", image: "counter:1", volumeMounts: [{ name: "disk", mountPath: "/data" }] }],
    volumes: [{ name: "disk", persistentVolumeClaim: { claimName: "disk" } }],
  },
});

test("what is on a volume outlives processes and goes with the volume", async () => {
  const model = new Counting();
  await using world = await simulate({ seed: 1, models: [model] });
  await world.apply(claim);
  await world.apply(counter);
  await world.settled();
  world.kill("counter");
  await world.run(60_000);
  expect(model.counts).toEqual([1, 2]);
  await world.loseVolume("disk");
  await world.run(1_000);
  expect(await world.list(PersistentVolumeClaim)).toEqual([]);
  expect(model.alive).toBe(0);
  await world.apply(claim);
  await world.run(120_000);
  expect(model.counts).toEqual([1, 2, 1]);
});

test("an isolated node goes on with its processes, and ends those of pods that were deleted meanwhile", async () => {
  const model = new Counting();
  await using world = await simulate({ seed: 1, models: [model] });
  await world.apply(claim);
  await world.apply(counter);
  await world.settled();
  const node = (await world.get(Pod, "counter")).spec?.nodeName ?? "";
  world.failNode(node, "isolated");
  await world.delete(Pod, "counter");
  await world.run(100_000);
  expect((await world.get(Pod, "counter")).metadata.deletionTimestamp).toBeDefined();
  expect(model.alive).toBe(1);
  await world.recoverNode(node);
  await world.run(60_000);
  expect(await world.list(Pod)).toEqual([]);
  expect(model.alive).toBe(0);
});
