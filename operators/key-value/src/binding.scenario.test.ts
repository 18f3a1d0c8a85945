/** Bindings of an engine that brings nothing but three calls of its server. */
import { Restore, ServiceBinding } from "@setpoint/data-service";
import { minutes, seconds } from "setpoint";
import { Secret } from "setpoint/kinds";
import { expect, test } from "vitest";
import { backup, ordersReference, setUp, type Stage, storeClaim } from "./testing/key-value-stage.ts";

const binding = ServiceBinding({ name: "shop", spec: { instance: ordersReference, rotation: { overlap: "5m" } } });

async function login({ world }: Stage): Promise<Readonly<Record<string, string>>> {
  const { data = {} } = await world.get(Secret, "shop");
  const text = (key: string): string => Buffer.from(data[key] ?? "", "base64").toString();
  return { [text("username")]: text("password") };
}

test("a binding gets a user of the server, and takes it along when it goes", async () => {
  const stage = await setUp(1);
  const { world, server } = stage;
  await using _ = world;
  await world.apply(binding);
  await world.settled();
  expect(server.users("orders")).toEqual(await login(stage));
  await world.expectQuiet();
  await world.delete(ServiceBinding, "shop");
  await world.settled();
  expect(server.users("orders")).toEqual({});
});

test("after a restore in place the present login works, and one that was rotated away does not come back", async () => {
  const stage = await setUp(2);
  const { world, server } = stage;
  await using _ = world;
  await world.apply(storeClaim);
  await world.apply(binding);
  await world.settled();
  const old = await login(stage);
  await world.apply(backup("first"));
  await world.settled();
  await world.patch(ServiceBinding, "shop", { spec: { rotation: { request: "leaked" } } });
  await world.run(minutes(7));
  const present = await login(stage);
  expect(present).not.toEqual(old);
  expect(server.users("orders")).toEqual(present);
  await world.apply(
    Restore({ name: "back", spec: { instance: ordersReference, source: { backup: "first" }, inPlace: {} } }),
  );
  await world.run(minutes(3));
  expect((await world.get(Restore, "back")).status?.phase).toBe("Succeeded");
  await world.run(seconds(30));
  expect(await login(stage)).toEqual(present);
  expect(server.users("orders")).toEqual(present);
});
