import { Endpoints, EndpointSlice, Service } from "@setpoint/api";
import { isNotFound } from "@setpoint/apimachinery";
import { createClient } from "@setpoint/client";
import { systemHost } from "@setpoint/host/system";
import { expect, test } from "vitest";
import { startControlPlane } from "./control-plane.ts";

test("the Service kubernetes comes back when it is deleted, with its address and its endpoints", async () => {
  const host = systemHost();
  await using plane = await startControlPlane({ host, https: { port: 0 }, controllers: false });
  const client = createClient(plane.transport, host);
  const key = { name: "kubernetes", namespace: "default" };
  const before = await client.get(Service, key);
  const [{ port } = {}] = (await client.get(Endpoints, key)).subsets?.[0]?.ports ?? [];
  await client.delete(Service, key);
  await client.delete(EndpointSlice, key);
  await client.delete(Endpoints, key);
  const found = async (): Promise<unknown> => {
    try {
      const { spec } = await client.get(Service, key);
      const slice = await client.get(EndpointSlice, key);
      const { subsets } = await client.get(Endpoints, key);
      return [spec?.clusterIP, slice.ports?.[0]?.port, subsets?.[0]?.ports?.[0]?.port];
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
  await expect.poll(found, { timeout: 10_000 }).toEqual([before.spec?.clusterIP, port, port]);
});
