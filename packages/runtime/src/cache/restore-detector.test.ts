/**
 * The cluster is restored from a backup of etcd: its revisions go back, and other changes get the revisions
 * that were seen.
 */
import type { Transport } from "@setpoint/apimachinery";
import { createApiServer, createMemoryStorage } from "@setpoint/apiserver";
import { createClient, type Client } from "@setpoint/client";
import { simulatedHost, type SimulatedHost } from "@setpoint/host/simulated";
import { controller, startManager } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { candy, Candy } from "../run/controller-world.fixture.ts";
import { anything, served } from "../run/served-kinds.fixture.ts";
import { RestoreDetector, restoreProblem } from "./restore-detector.ts";

/**
 * A cluster as it was at the time of the backup: equal seeds make equal objects, with equal UIDs and
 * revisions.
 */
async function cluster({
  clock,
}: Pick<SimulatedHost, "clock">): Promise<{ readonly transport: Transport; readonly client: Client }> {
  const host = { ...simulatedHost(5), clock };
  const server = createApiServer({ host, storage: createMemoryStorage(host), builtin: [served(Candy, anything)] });
  const transport = server.transport({ username: "operator", groups: ["system:masters"] });
  const client = createClient(transport, host);
  await client.create(Candy, candy("mint"));
  return { transport, client };
}

const key = { name: "lolly", namespace: "default" };

/**
 * A cluster that is restored from a backup whenever it is wished, after twenty changes that the backup does
 * not have.
 */
async function world(host: SimulatedHost) {
  const [before, after] = [await cluster(host), await cluster(host)];
  let now = before.transport;
  let cuts = new AbortController();
  return {
    after: after.client,
    transport: {
      send: (request, signal) =>
        now.send(request, AbortSignal.any([cuts.signal, ...(signal === undefined ? [] : [signal])])),
    } satisfies Transport,
    async change(): Promise<void> {
      for (let i = 0; i < 20; i++) await before.client.patch(Candy, key, { spec: { flavors: [`lost-${i}`] } });
    },
    cut(): void {
      cuts.abort(new Error("the servers are restarted"));
      cuts = new AbortController();
    },
    restore: () => void (now = after.transport),
  };
}

test("a cluster that is restored from a backup is noticed, said, and believed within four minutes", async () => {
  const host = simulatedHost(1);
  const { after, change, cut, restore, transport } = await world(host);
  const seen: string[] = [];
  const noting = controller(Candy, { reconcile: async ({ spec }) => void seen.push(spec.flavors.join()) });
  const manager = startManager({ transport, host, controllers: [noting] });
  await host.clock.run(1_000);
  await change();
  await host.clock.run(1_000);
  expect(seen.at(-1)).toBe("lost-19");

  restore();
  cut();
  const isSuspicious = (): boolean => !manager.readyz().ok;
  expect(await host.clock.run(120_000, isSuspicious)).toBe(true);
  const messages = manager.readyz().checks.map(({ message }) => message);
  expect(messages.join()).toContain("restored from a backup");
  expect(await host.clock.run(120_000, () => seen.at(-1) === "mint")).toBe(true);
  await host.clock.run(1_000);
  expect(isSuspicious()).toBe(false);
  expect(manager.metrics()).toContain('setpoint_cache_restores_total{kind="candies.example.com"} 1');

  await after.patch(Candy, key, { spec: { flavors: ["lime"] } });
  await host.clock.run(1_000);
  expect(seen.at(-1)).toBe("lime");
  await host.clock.wait(manager.stop());
});

test("a key that waits for a write of the lost history goes on with the new one", async () => {
  const host = simulatedHost(1);
  const { change, cut, restore, transport } = await world(host);
  await change();
  const seen: string[] = [];
  const writing = controller(Candy, {
    reconcile: async (object, { patch }) => {
      seen.push(object.spec.flavors.join());
      if (object.spec.flavors.includes("mint")) return;
      cut();
      await patch(object, { metadata: { annotations: { written: "yes" } } });
      // Before the cache shows it.
      restore();
    },
  });
  const manager = startManager({ transport, host, controllers: [writing] });
  expect(await host.clock.run(300_000, () => seen.at(-1) === "mint")).toBe(true);
  await host.clock.wait(manager.stop());
});

test("a server that lags for a while, or now and then, is not believed", () => {
  const { clock } = simulatedHost(1);
  const history = new RestoreDetector(clock);
  for (let i = 0; i < 10; i++) expect(history.isProvenBy("90", "100")).toBe(false);
  expect(history.isProvenBy("100", "100")).toBe(false);
  expect(history.isSuspected).toBe(false);
});

test("a server is believed when it has said so four times, over a whole minute", async () => {
  const { clock } = simulatedHost(1, 500_000);
  const history = new RestoreDetector(clock);
  const says = (): boolean => history.isProvenBy("90", "100");
  expect([says(), says(), says()]).toEqual([false, false, false]);
  await clock.run(59_999);
  expect(says()).toBe(false);
  await clock.run(1);
  expect([says(), history.isSuspected]).toEqual([true, true]);
  history.accept();
  expect(history.isSuspected).toBe(false);
  // The next time is counted from its own beginning.
  expect([says(), says(), says(), says()]).toEqual([false, false, false, false]);
  await clock.run(60_000);
  expect(says()).toBe(true);
});

test("a minute alone is not enough: the fourth answer decides", async () => {
  const { clock } = simulatedHost(1);
  const history = new RestoreDetector(clock);
  const answers: boolean[] = [];
  for (let i = 0; i < 4; i++) {
    answers.push(history.isProvenBy("90", "100"));
    await clock.run(60_000);
  }
  expect(answers).toEqual([false, false, false, true]);
});

test("while a restore is suspected, its report has the last revision, the current one and the remaining time", () => {
  const text = restoreProblem("candies", "90", "100");
  for (const part of ["Cannot list candies", "newest revision is 90, older than 100", "for 60 s"])
    expect(text).toContain(part);
});
