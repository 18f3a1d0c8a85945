/** The space that etcd's data take, in the simulated world. */
import { conditionOf, simulate, EtcdModel } from "setpoint/testing";
import { Event, PersistentVolumeClaim } from "setpoint/kinds";
import { minutes, seconds } from "setpoint";
import { expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import { etcdOperator } from "./etcd-operator.ts";
import { bootstrap, claims, cluster, expectHealthy, memberNames, scenario, type Stage } from "./testing/etcd-stage.ts";
import { simulatedGateway } from "./testing/simulated-gateway.ts";

const mebibyte = 1_048_576;
/** Only a look at all dates shows that it never fires, so the server accepts it. */
const neverDefragmented = { defragmentation: { schedule: "0 3 30 2 +MON" } };
const quota = { ...claims, options: { "quota-backend-bytes": String(4 * mebibyte) } };

/** Writes one key again and again: its history grows, its data do not. */
async function overwrite({ world, etcd }: Stage, times: number, bytes = mebibyte): Promise<number> {
  const endpoint = `http://${etcd.members("orders")[0]?.launch.podIp ?? ""}:2379`;
  let done = 0;
  for (; done < times; done++) {
    const isWritten = await world.wait(
      etcd.put(endpoint, "key", "v".repeat(bytes)).then(
        () => true,
        () => false,
      ),
    );
    if (!isWritten) break;
  }
  return done;
}

test(
  "a cluster without space is compacted, defragmented with the leader last, and accepts writes again",
  scenario(401, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, quota);
    expect(await overwrite(stage, 9)).toBe(4);
    const leader = etcd.leader("orders");
    await world.until("the alarm is reported", async () => {
      const condition = conditionOf(await world.get(EtcdCluster, "orders"), "Degraded");
      return condition?.message?.includes("NOSPACE") === true;
    });
    await world.settled();
    expect(etcd.defragmented.toSorted()).toEqual(memberNames(stage));
    expect(etcd.defragmented.at(-1)).toBe(leader);
    expect(await overwrite(stage, 1)).toBe(1);
    await expectHealthy(stage);
    await world.expectQuiet();
  }),
);

test(
  "a cluster whose data fill its quota asks for fewer keys or a larger quota, and the alarm stays",
  scenario(402, async (stage) => {
    const { world } = stage;
    await bootstrap(stage, quota);
    await overwrite(stage, 1, 5 * mebibyte);
    await world.run(minutes(5));
    const { status } = await world.get(EtcdCluster, "orders");
    expect(status?.waitingFor?.what).toContain("delete keys, or raise spec.options.quota-backend-bytes");
    // Once an hour it is tried again.
    await world.expectQuiet({ hours: 0.5 });
  }),
);

test(
  "members are defragmented by schedule and by size",
  scenario(403, async (stage) => {
    const { world, etcd } = stage;
    const defragmentation = { schedule: "@hourly", whenFreePercent: 50, minDbSizeMiB: 3 };
    await bootstrap(stage, { ...claims, maintenance: { defragmentation } });
    await world.until("the run of the hour", () => etcd.defragmented.length === 3, { within: minutes(61) });
    expect(etcd.defragmented.toSorted()).toEqual(memberNames(stage));
    await overwrite(stage, 6);
    await world.wait(etcd.compact(`http://${etcd.members("orders")[0]?.launch.podIp ?? ""}:2379`));
    await world.run(minutes(1));
    expect(etcd.defragmented).toHaveLength(6);
    expect((await world.get(EtcdCluster, "orders")).status?.defragmentation).toMatchObject({ reason: "FreeSpace" });
    await expectHealthy(stage);
  }),
);

test(
  "volumes grow by themselves with the data, up to the maximum, and then the status says why not",
  scenario(405, async (stage) => {
    const { world } = stage;
    const volumeGrowth = { whenUsedPercent: 80, step: "2Mi", max: "8Mi" };
    const resources = { requests: { storage: "4Mi" } };
    const volumeClaimTemplate = { ...claims.volumeClaimTemplate, resources };
    const defragmentation = { whenFreePercent: 50, minDbSizeMiB: 100 };
    await bootstrap(stage, { volumeClaimTemplate, maintenance: { defragmentation, volumeGrowth } });
    const sizes = async (): Promise<readonly unknown[]> =>
      (await world.list(PersistentVolumeClaim)).map(({ spec }) => spec?.resources?.requests?.["storage"]);
    const waits = async (): Promise<string> =>
      (await world.get(EtcdCluster, "orders")).status?.waitingFor?.what ?? "for nothing";
    await overwrite(stage, 3);
    await world.run(seconds(30));
    expect(await sizes()).toEqual(["4Mi", "4Mi", "4Mi"]);
    await overwrite(stage, 1);
    await world.run(seconds(30));
    expect(await sizes()).toEqual(["6Mi", "6Mi", "6Mi"]);
    expect(await waits()).toBe("for nothing");
    const events = (await world.list(Event)).map(({ message = "" }) => message);
    expect(events.some((message) => /take \d+ % of its volume of 4Mi: it grows to 6Mi/.test(message))).toBe(true);
    await overwrite(stage, 4);
    // The next try is written as long as it is near.
    await world.run(minutes(3));
    expect(await sizes()).toEqual(["8Mi", "8Mi", "8Mi"]);
    expect(await waits()).toContain("raise spec.maintenance.volumeGrowth.max");
    await world.expectQuiet({ hours: 0.5 });
    await world.patch(EtcdCluster, "orders", {
      spec: { maintenance: { volumeGrowth: { max: "20Mi" } } },
    });
    await world.settled();
    expect(await sizes()).toEqual(["12Mi", "12Mi", "12Mi"]);
    await expectHealthy(stage);
    await world.expectQuiet();
  }),
);

test("a schedule that never fires is refused by name, and the cluster runs", async () => {
  const etcd = new EtcdModel();
  await using world = await simulate({
    seed: 404,
    models: [etcd],
    operators: [(process) => etcdOperator(simulatedGateway(etcd, process))],
  });
  await world.apply(cluster("orders"));
  await world.settled();
  await world.patch(EtcdCluster, "orders", { spec: { maintenance: neverDefragmented } });
  await world.run(seconds(30));
  const accepted = conditionOf(await world.get(EtcdCluster, "orders"), "Accepted");
  expect(accepted).toMatchObject({ status: "False" });
  expect(accepted?.message).toContain("spec.maintenance.defragmentation.schedule");
  const progressing = conditionOf(await world.get(EtcdCluster, "orders"), "Progressing");
  expect(progressing).toMatchObject({ status: "False", reason: "FieldsRefused", message: accepted?.message });
});
