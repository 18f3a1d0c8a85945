import { Endpoints, EndpointSlice, Service } from "@setpoint/api";
import { simulate, type World } from "@setpoint/testing";
import { expect, test } from "vitest";

const namespace = "default";
const service = (spec: object = {}): Service =>
  Service({ name: "db", namespace, spec: { ports: [{ port: 80 }], ...spec } });
const endpoints = (...addresses: readonly string[]): Endpoints =>
  Endpoints({
    name: "db",
    namespace,
    subsets: [{ addresses: addresses.map((ip) => ({ ip })), ports: [{ port: 80 }] }],
  });

async function addresses(world: World): Promise<readonly string[]> {
  const slices = await world.list(EndpointSlice);
  const own = slices.filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === "db");
  return own.flatMap((slice) => (slice.endpoints ?? []).flatMap((each) => each.addresses)).toSorted();
}

test("Endpoints of a Service without a selector are mirrored until they or the Service go", async () => {
  await using world = await simulate({ seed: 1 });
  await world.apply(service());
  await world.apply(endpoints("10.1.2.3"));
  await world.until("a slice", async () => (await addresses(world)).join() === "10.1.2.3");
  await world.apply(endpoints("10.1.2.3", "10.2.3.4"));
  await world.until("both addresses", async () => (await addresses(world)).length === 2);
  await world.expectQuiet({ hours: 1 });
  await world.delete(Endpoints, "db");
  await world.until("no slice", async () => (await addresses(world)).length === 0);
});

test("Endpoints of a Service with a selector are not mirrored", async () => {
  await using world = await simulate({ seed: 2 });
  await world.apply(service());
  await world.apply(endpoints("10.1.2.3"));
  await world.until("a slice", async () => (await addresses(world)).length === 1);
  await world.patch(Service, "db", { spec: { selector: { app: "db" } } });
  await world.until("no address", async () => (await addresses(world)).length === 0);
  const slices = await world.list(EndpointSlice);
  expect(slices.filter(({ metadata }) => metadata.name.includes("mirrored"))).toEqual([]);
});
