/** The seven guidelines of the founders of the pattern, held against this operator. */
import { simulatedIssuer } from "@setpoint/data-service";
import { minutes } from "setpoint";
import { EtcdModel, operatorGuidelines, type Setting, type World } from "setpoint/testing";
import { test } from "vitest";
import { etcdOperator } from "./etcd-operator.ts";
import { claims, cluster } from "./testing/etcd-stage.ts";
import { options as lawOptions } from "./testing/etcd-worlds.ts";
import { placeFirstRelease } from "./testing/first-release.ts";
import { simulatedGateway } from "./testing/simulated-gateway.ts";

/** The model of the newest world. */
let etcd: EtcdModel;

function subject(): Setting {
  const model = new EtcdModel();
  etcd = model;
  return {
    models: [model],
    operators: [(process) => etcdOperator(simulatedGateway(model, process), {}, undefined, simulatedIssuer)],
  };
}

/** Writes a key by one member, and reads it back. */
async function isServing(world: World): Promise<boolean> {
  const [member] = etcd.members("orders").filter((each) => each.isServing);
  if (member === undefined) return false;
  const endpoint = `http://${member.launch.podIp}:2379`;
  const value = String(world.host.clock.now());
  await world.wait(etcd.put(endpoint, "guideline", value), { within: minutes(1) });
  return new Map(await world.wait(etcd.keys(endpoint))).get("guideline") === value;
}

operatorGuidelines(test, "etcd", subject, {
  instance: cluster("orders", claims),
  primitives: {
    ownPods:
      "a StatefulSet names members by number, restarts them by number and gives a new member the volume of an old one; etcd wants a new member for each lost volume, and its leader last",
  },
  older: { place: (world) => placeFirstRelease(world, etcd) },
  away: { isServing },
  version: {
    field: "spec.version",
    next: "3.5.16",
    unsupported: "3.3.1",
    running: () => etcd.members("orders").map(({ version }) => version),
  },
  // All worlds under all faults: etcd.laws.scenario.test.ts.
  chaos: { ...lawOptions, worlds: [cluster("orders", { ...claims, size: 1 })], faults: ["A2", "C6"] },
});
