import { controller, startManager, type ClusterProvider, type ClusterRegistry, type Manager } from "@setpoint/runtime";
import type { Transport } from "@setpoint/apimachinery";
import { sleep } from "@setpoint/host";
import { expect, test } from "vitest";
import { Candy, Fleet, type FleetProcess } from "./fleet.fixture.ts";

const candy = (name: string): Candy => Candy({ name, namespace: "default", spec: { flavors: [] } });

/** One home and clusters by name, all on one clock. */
class Clusters implements AsyncDisposable {
  readonly home = new Fleet(1);
  readonly fleets = new Map<string, Fleet>();
  readonly runs: string[] = [];
  readonly controller = controller(Candy, {
    reconcile: async (object, { status, log, host: { clock }, controller: { cluster }, awaitChange }) => {
      log.info("Looked at a candy");
      this.runs.push(`${cluster}/${object.metadata.name}`);
      await sleep(clock, 500);
      await status({ turn: 1 });
      return awaitChange();
    },
  });

  add(name: string): Fleet {
    const fleet = new Fleet(1, this.home.host);
    this.fleets.set(name, fleet);
    return fleet;
  }

  start(provider: ClusterProvider, process: FleetProcess = this.home.process("operator")): Manager {
    const { transport, host } = process;
    return startManager({ transport, host, controllers: [this.controller], clusters: provider });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const fleet of [this.home, ...this.fleets.values()]) await fleet[Symbol.asyncDispose]();
  }
}

/** Gives no answer, as a cluster behind a closed firewall. */
const unreachable: Transport = {
  send: (_, signal) =>
    new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason), { once: true })),
};

async function turns(fleet: Fleet): Promise<readonly (number | undefined)[]> {
  return (await fleet.wait(fleet.client.listAll(Candy))).items.map(({ status }) => status?.turn);
}

test("controllers work in the clusters that come, each by its own name in logs, metrics and answers", async () => {
  await using clusters = new Clusters();
  const { home } = clusters;
  const [east, west] = [clusters.add("east"), clusters.add("west")];
  await home.wait(home.client.create(Candy, candy("at-home")));
  await east.wait(east.client.create(Candy, candy("lolly")));
  await west.wait(west.client.create(Candy, candy("lolly")));
  let registry: ClusterRegistry | undefined;
  const manager = clusters.start((added) => {
    registry = added;
    added.add("east", east.transportOf("operator"));
  });
  await home.run(5_000);
  expect(await turns(east)).toEqual([1]);
  registry?.add("west", west.transportOf("operator"));
  await home.run(5_000);
  expect(await turns(west)).toEqual([1]);
  // Its own cluster is only where its leases are.
  expect(await turns(home)).toEqual([undefined]);
  expect(manager.clusters.names()).toEqual(["east", "west"]);

  const said = home.host.lines.filter(({ message }) => message === "Looked at a candy");
  expect(said.map(({ fields }) => fields["cluster"])).toEqual(["east", "west"]);
  const metrics = manager.metrics();
  expect(metrics).toContain('controller_runtime_reconcile_total{cluster="east",controller="candy",result="success"} 1');
  expect(metrics).toContain('controller_runtime_reconcile_total{cluster="west",controller="candy",result="success"} 1');
  expect(metrics).toContain('setpoint_cluster_synced{cluster="west"} 1');
  const report = await home.wait(manager.why({ kind: "candy", name: "lolly", cluster: "west" }));
  expect(report).toMatchObject({ cluster: "west", isPresent: true });
  await west.wait(west.client.create(Candy, candy("only-west")));
  await home.run(1_000);
  const found = await home.wait(manager.why({ kind: "candy", name: "only-west" }));
  expect(found).toMatchObject({ cluster: "west", isPresent: true });
  await home.wait(manager.stop());
});

test("a cluster that goes ends its own runs and watches, and touches no other", async () => {
  await using clusters = new Clusters();
  const { home } = clusters;
  const [east, west] = [clusters.add("east"), clusters.add("west")];
  const links = { east: east.process("operator"), west: west.process("operator") };
  const ended: string[] = [];
  for (const [name, link] of Object.entries(links)) link.onWatchEnd = () => ended.push(name);
  const manager = clusters.start((registry) => {
    for (const [name, { transport }] of Object.entries(links)) registry.add(name, transport);
  });
  await home.run(5_000);
  await east.wait(east.client.create(Candy, candy("last")));
  await home.run(100);
  await home.wait(manager.clusters.remove("east"));
  // The run that had begun has ended.
  expect(await turns(east)).toEqual([1]);
  expect(ended).toEqual(["east"]);
  expect(manager.metrics()).not.toContain('cluster="east"');
  expect(manager.metrics()).toContain('setpoint_cluster_synced{cluster="west"} 1');
  await east.wait(east.client.create(Candy, candy("after")));
  await west.wait(west.client.create(Candy, candy("still")));
  await home.run(5_000);
  expect(clusters.runs).toEqual(["east/last", "west/still"]);
  expect(manager.clusters.names()).toEqual(["west"]);
  expect(manager.metrics()).not.toContain('cluster="east"');
  await home.wait(manager.stop());
});

test("an unreachable cluster delays no other, is reported, and does not fail the readiness check", async () => {
  await using clusters = new Clusters();
  const { home } = clusters;
  const east = clusters.add("east");
  await east.wait(east.client.create(Candy, candy("lolly")));
  const manager = clusters.start((registry) => {
    registry.add("west", unreachable);
    registry.add("east", east.transportOf("operator"));
  });
  await home.run(600_000);
  expect(await turns(east)).toEqual([1]);
  const report = manager.readyz();
  expect(report.ok).toBe(true);
  expect(report.checks).toContainEqual({
    ...{ name: "west: cache candies.example.com", ok: false, isWarning: true },
    message: "the first list is not complete",
  });
  await home.wait(manager.stop());
});

test("names of clusters are not used twice, and unknown ones are refused", async () => {
  await using clusters = new Clusters();
  const { home } = clusters;
  const east = clusters.add("east");
  const manager = clusters.start((registry) => registry.add("east", east.transportOf("operator")));
  await home.run(1_000);
  expect(() => manager.clusters.add("east", east.transportOf("operator"))).toThrow(
    'Cannot add cluster "east": a cluster of this name exists already',
  );
  await expect(manager.clusters.remove("north")).rejects.toMatchObject({ code: "ERR_CLUSTER" });
  await expect(manager.why({ kind: "candy", name: "x", cluster: "north" })).rejects.toThrow('the manager has "east"');
});

test("a cluster that comes when the manager stops is refused", async () => {
  await using clusters = new Clusters();
  const { home } = clusters;
  const [east, west] = [clusters.add("east"), clusters.add("west")];
  const manager = clusters.start((registry) => registry.add("east", east.transportOf("operator")));
  await home.run(1_000);
  const stopped = manager.stop();
  await home.run(1);
  expect(() => manager.clusters.add("west", west.transportOf("operator"))).toThrow('Cannot add cluster "west"');
  await home.wait(stopped);
});
