import type { ApiResponse, UnstructuredObject } from "@setpoint/apimachinery";
import { noMetrics, silentLogger } from "@setpoint/host";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { ExtensionCatalog } from "../aggregation/extension-catalog.ts";
import { keepExtensions } from "./extension-keeper.ts";

const object = (value: unknown): ApiResponse => ({ kind: "object", status: 200, headers: {}, object: value });
const resources = [{ name: "sweets", singularName: "sweet", namespaced: true, kind: "Sweet", verbs: ["list"] }];
const extension: UnstructuredObject = {
  apiVersion: "apiregistration.k8s.io/v1",
  kind: "APIService",
  metadata: { name: "v1.sweets.example.com" },
  spec: { group: "sweets.example.com", version: "v1", service: { namespace: "default", name: "sweets" } },
};

test("an extension server is in discovery soon after its APIService was created", async () => {
  const random = seededRandom(1);
  const clock = new VirtualClock(random);
  const catalog = new ExtensionCatalog();
  const services: UnstructuredObject[] = [];
  const keeping = keepExtensions({
    host: { clock, random, log: silentLogger, metrics: noMetrics },
    reader: { get: () => undefined, list: () => services, decided: () => [] },
    forward: async () => object({ kind: "APIResourceList", resources }),
    catalog,
    transport: { send: async () => object({}) },
  });
  await clock.run(1_050);
  services.push(extension);
  await clock.run(200);
  expect(catalog.resources.map(({ resource }) => resource)).toEqual(["sweets"]);
  await keeping[Symbol.asyncDispose]();
});
