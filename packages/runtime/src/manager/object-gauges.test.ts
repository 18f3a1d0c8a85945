import { controller, startManager } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { Candy, Fleet } from "./fleet.fixture.ts";

test("gauges and conditions of objects are exposed, and gone with the object", async () => {
  await using fleet = new Fleet(1);
  const { transport, host } = fleet.process("operator");
  const flavors = controller(Candy, {
    objectMetrics: {
      gauges: { candy_flavors: "Flavors of a candy.", candy_unset: "Has no value." },
      values: ({ spec }) => ({ candy_flavors: spec.flavors.length, candy_unset: undefined }),
    },
    async reconcile(_, { condition, awaitChange }) {
      condition({ type: "Sweet", status: "True", reason: "Sugar", message: "it is sweet" });
      condition({ type: "Bitter", status: "Unknown", reason: "NotTasted", message: "nobody has tasted it" });
      return awaitChange();
    },
  });
  const manager = startManager({ transport, host, controllers: [flavors] });
  const lolly = Candy({ name: "lolly", namespace: "default", spec: { flavors: ["mint", "lime"] } });
  await fleet.wait(fleet.client.create(Candy, lolly));
  await fleet.run(5_000);
  const labels = 'controller="candy",kind="Candy",name="lolly",namespace="default"';
  const seen = (): readonly string[] =>
    manager
      .metrics()
      .split("\n")
      .filter((line) => line.includes('name="lolly"'));
  expect([...seen()].sort()).toEqual([
    `candy_flavors{${labels}} 2`,
    expect.stringMatching(/^setpoint_object_condition\{.*type="Bitter"\} -1$/),
    expect.stringMatching(/^setpoint_object_condition\{.*type="Sweet"\} 1$/),
  ]);
  await fleet.wait(fleet.client.delete(Candy, { name: "lolly", namespace: "default" }));
  await fleet.run(5_000);
  expect(seen()).toEqual([]);
  await fleet.wait(manager.stop());
});
