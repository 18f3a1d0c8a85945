import { ConfigMap } from "@setpoint/api";
import { bootstrap, builtinResources, createApiServer, createMemoryStorage } from "@setpoint/apiserver";
import { createClient } from "@setpoint/client";
import { simulatedHost } from "@setpoint/host/simulated";
import { controller, defineOperator } from "setpoint";
import { planFinalizerRemoval } from "setpoint/install";
import { runOperator } from "setpoint/process";
import { expect, test } from "vitest";

test("finalizers are not removed under an operator whose replicas share the keys", async () => {
  const host = simulatedHost(1);
  const storage = createMemoryStorage(host);
  await using server = createApiServer({ host, storage, builtin: builtinResources() });
  await bootstrap({ storage, host });
  const transport = server.transport({ username: "labels", groups: ["system:masters"] });
  const client = createClient(transport, host);
  const labels = controller(ConfigMap, { name: "labels", reconcile: async () => {} });
  const operator = defineOperator({ name: "labels", sharded: true, controllers: [labels] });
  const plan = (): Promise<unknown> =>
    planFinalizerRemoval(operator, { client, clock: host.clock, leaseNamespace: "default" });
  const manager = runOperator(operator, { transport, host, leaseNamespace: "default", identity: "replica-a" });
  await host.clock.run(30_000);
  expect(manager.shard()?.members).toEqual(["replica-a"]);
  await expect(plan()).rejects.toThrow(
    'Cannot remove the finalizers of operator "labels": "replica-a" runs it and would put them back; stop it first',
  );
  const stopped = manager.stop();
  await host.clock.run(30_000);
  await stopped;
  expect(await plan()).toMatchObject({ operator: "labels", held: [] });
});
