/** Children that their owner was deleted without stay, however late its controller hears of the deletion. */
import { Pod, ReplicationController } from "@setpoint/api";
import { simulate } from "@setpoint/testing";
import { expect, test } from "vitest";
import { subject } from "./controllers-worlds.fixture.ts";

const events = [1, 2, 3, 4, 5, 6, 7, 8];
test.each(events)(
  "an owner whose deletion arrives late leaves its pods alone: event %d breaks the watch",
  async (nth) => {
    const at = { by: "controllers", event: "replicationcontrollers", nth };
    const selector = { app: "web" };
    await using world = await simulate({ seed: 5, ...subject(), faults: [{ kind: "C6", at, compacted: false }] });
    const spec = { containers: [{ name: "web", image: "web:1" }] };
    const template = { metadata: { labels: selector }, spec };
    await world.apply(ReplicationController({ name: "web", spec: { replicas: 1, selector, template } }));
    await world.until("the pod is ready", async () => {
      const { status } = await world.get(ReplicationController, "web");
      return status?.readyReplicas === 1;
    });
    const [before] = await world.list(Pod);
    await world.run(30_000);
    const key = { name: "web", namespace: "default" };
    await world.wait(world.client.delete(ReplicationController, key, { propagationPolicy: "Orphan" }));
    await world.run(60_000);
    expect(await world.list(ReplicationController)).toEqual([]);
    const [after] = await world.list(Pod);
    expect(after?.metadata).toMatchObject({ name: before?.metadata.name });
    expect(after?.metadata.ownerReferences ?? []).toEqual([]);
  },
);
