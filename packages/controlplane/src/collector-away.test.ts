import { ConfigMap } from "@setpoint/api";
import { createClient } from "@setpoint/client";
import { GarbageCollector } from "@setpoint/controllers";
import { systemHost } from "@setpoint/host/system";
import { expect, test, vi } from "vitest";
import { startControlPlane } from "./control-plane.ts";

const namespace = "default";

test("what lost its owner while the collector was away is collected when it is back", async () => {
  const host = systemHost({ write: () => {} });
  await using plane = await startControlPlane({ host, controllers: false });
  const client = createClient(plane.transport, host);
  const owner = await client.create(ConfigMap, ConfigMap({ name: "owner", namespace }));
  const { uid } = owner.metadata;
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
  await client.create(ConfigMap, ConfigMap({ name: "child", namespace, ownerReferences }));
  await client.create(ConfigMap, ConfigMap({ name: "other", namespace }));
  await client.delete(ConfigMap, { name: "owner", namespace });
  const names = async (): Promise<readonly unknown[]> =>
    (await client.list(ConfigMap, { namespace })).items.map(({ metadata }) => metadata.name);
  expect(await names()).toEqual(["child", "other"]);
  await using collector = new GarbageCollector(client, host);
  await collector.start();
  await vi.waitFor(async () => expect(await names()).toEqual(["other"]), 20_000);
}, 30_000);
