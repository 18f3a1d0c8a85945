import { ConfigMap } from "setpoint/kinds";
import { simulate } from "setpoint/testing";
import { expect, test } from "vitest";
import candy, { Candy } from "./candy.ts";

test("a Candy becomes a ConfigMap that says its flavor, and then all is quiet", async () => {
  await using world = await simulate({ seed: 1, operators: [candy] });
  await world.apply(Candy({ name: "lolly", spec: { name: "Lolly" } }));
  await world.settled();
  expect((await world.get(ConfigMap, "lolly-wrapper")).data).toEqual({ name: "Lolly", flavor: "mint" });
  expect((await world.get(Candy, "lolly")).status).toEqual({ wrapped: true });
  await world.expectQuiet();
});
