/** What people edit, and ask for, by hand; in the simulated world. */
import { PersistentVolumeClaim, Pod, PodDisruptionBudget, Service } from "setpoint/kinds";
import { conditionOf } from "setpoint/testing";
import { minutes } from "setpoint";
import { describe, expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import { bootstrap, claims, cluster, expectHealthy, memberNames, scenario } from "./testing/etcd-stage.ts";

const peerPorts = [
  { name: "peer", port: 2380, protocol: "TCP", targetPort: 2380 },
  { name: "client", port: 2379, protocol: "TCP", targetPort: 2379 },
];

describe("what people do by hand", () => {
  test(
    "labels of a pod or a volume that a user edits are restored, and foreign ones stay",
    scenario(23, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, claims);
      const [name = ""] = memberNames(stage);
      const edit = { metadata: { labels: { "etcd.setpoint.dev/cluster": "other", team: "data" } } };
      await world.patch(Pod, name, edit);
      await world.patch(PersistentVolumeClaim, `data-${name}`, edit);
      await world.settled();
      const wanted = { "etcd.setpoint.dev/cluster": "orders", "etcd.setpoint.dev/member": name, team: "data" };
      expect((await world.get(Pod, name)).metadata.labels).toEqual(wanted);
      expect((await world.get(PersistentVolumeClaim, `data-${name}`)).metadata.labels).toEqual(wanted);
      await expectHealthy(stage);
      await world.expectQuiet();
    }),
  );

  test.each<readonly [string, unknown]>([
    ["its label", { metadata: { labels: { "etcd.setpoint.dev/cluster": "other" } } }],
    ["its selector by a label more", { spec: { selector: { track: "canary" } } }],
    ["its selector", { spec: { selector: { "etcd.setpoint.dev/cluster": "other" } } }],
    ["whether members count that are not ready", { spec: { publishNotReadyAddresses: false } }],
    ["a port's number", { spec: { ports: [{ name: "client", port: 12_379, protocol: "TCP", targetPort: 2379 }] } }],
    ["its ports by one more", { spec: { ports: [...peerPorts, { name: "metrics", port: 2381, protocol: "TCP" }] } }],
    ["a port's target", { spec: { ports: [{ name: "client", port: 2379, protocol: "TCP", targetPort: 1 }] } }],
  ])("the operator restores a Service when a user edits %s", async (_, edit) => {
    await scenario(26, async (stage) => {
      const { world } = stage;
      await bootstrap(stage);
      const before = await world.get(Service, "orders");
      await world.patch(Service, "orders", edit);
      await world.settled();
      const after = await world.get(Service, "orders");
      expect(after.spec).toEqual(before.spec);
      expect(after.metadata.labels).toEqual(before.metadata.labels);
      await world.expectQuiet();
    })();
  });

  test.each<readonly [string, unknown]>([
    ["its label", { metadata: { labels: { "etcd.setpoint.dev/cluster": "other" } } }],
    ["its selector by a label more", { spec: { selector: { matchLabels: { track: "canary" } } } }],
    ["its selector", { spec: { selector: { matchLabels: { "etcd.setpoint.dev/cluster": "other" } } } }],
    ["what may be unavailable", { spec: { minAvailable: null, maxUnavailable: 3 } }],
  ])("the operator restores a PodDisruptionBudget when a user edits %s", async (_, edit) => {
    await scenario(27, async (stage) => {
      const { world } = stage;
      await bootstrap(stage);
      const before = await world.get(PodDisruptionBudget, "orders");
      await world.patch(PodDisruptionBudget, "orders", edit);
      await world.settled();
      const after = await world.get(PodDisruptionBudget, "orders");
      expect(after.spec).toEqual(before.spec);
      expect(after.metadata.labels).toEqual(before.metadata.labels);
      await world.expectQuiet();
    })();
  });

  test(
    "a pod whose member label a user edits is still known by its name",
    scenario(24, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, claims);
      const before = memberNames(stage);
      await world.patch(Pod, before[1] ?? "", { metadata: { labels: { "etcd.setpoint.dev/member": "nobody" } } });
      await world.settled();
      expect(memberNames(stage)).toEqual(before);
      await expectHealthy(stage);
    }),
  );

  test(
    "a claim that is deleted before its pod has ever started is made again",
    scenario(25, async (stage) => {
      const { world } = stage;
      await world.apply(cluster("orders", claims));
      // The operator dies between the first claim and its pod.
      world.crashOperatorAt(world.operatorWrites + 5, "after");
      await world.until("a claim is there", async () => (await world.list(PersistentVolumeClaim)).length > 0);
      expect(await world.list(Pod)).toEqual([]);
      const [claim] = await world.list(PersistentVolumeClaim);
      await world.delete(PersistentVolumeClaim, claim?.metadata.name ?? "");
      await world.settled();
      await expectHealthy(stage);
      await world.expectQuiet();
    }),
  );
});

describe("a spec that cannot be had", () => {
  test(
    "a downgrade is refused when it is asked for, and changes nothing",
    scenario(21, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, { version: "3.5.16" });
      const before = memberNames(stage);
      await expect(world.patch(EtcdCluster, "orders", { spec: { version: "3.4.23" } })).rejects.toThrow(
        "spec.version: Invalid value: members run a newer version, and etcd cannot be downgraded",
      );
      await world.run(minutes(2));
      expect(memberNames(stage)).toEqual(before);
      await world.expectQuiet();
      await expectHealthy(stage);
    }),
  );

  test(
    "the status reports a Service name that is taken, and the operator uses it when it is free",
    scenario(22, async (stage) => {
      const { world } = stage;
      await world.apply(Service({ name: "orders-client", spec: { ports: [{ port: 80 }] } }));
      await world.apply(cluster("orders"));
      await world.run(minutes(2));
      expect(conditionOf(await world.get(EtcdCluster, "orders"), "Degraded")).toMatchObject({
        status: "True",
        reason: "ServiceNameTaken",
      });
      expect(await world.list(Pod)).toEqual([]);
      await world.expectQuiet();
      await world.delete(Service, "orders-client");
      await world.settled();
      await expectHealthy(stage);
    }),
  );
});
