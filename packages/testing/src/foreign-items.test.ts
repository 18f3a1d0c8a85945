/**
 * Lists of children to which another client added items; the server refuses the operator's own items beside
 * them.
 */
import { Deployment, Service } from "@setpoint/api";
import type { ApplyOptions } from "@setpoint/runtime";
import { controller, defineOperator } from "setpoint";
import { expect, test } from "vitest";
import { Candy } from "./candy-operator.fixture.ts";
import { story } from "./explore/story.ts";
import { replaySchedule } from "./laws/reconciler-laws.ts";
import { conditionOf } from "./settled.ts";
import { simulate } from "./simulate.ts";

function shopOf(options: ApplyOptions): ReturnType<typeof defineOperator> {
  const shop = controller(Candy, {
    owns: [Service],
    async reconcile(_candy, { apply, status }) {
      await apply(Service({ name: "shop", spec: { selector: { app: "shop" }, ports: [{ port: 80 }] } }), options);
      await status({ wrappers: 1 });
    },
  });
  return defineOperator({ name: "shop", controllers: [shop] });
}

test.each<readonly [string, ApplyOptions, number, RegExp | undefined]>([
  ["is put back", {}, 80, undefined],
  ["stays where nothing of others may be forced", { force: false }, 81, /spec\.ports\[\d\]\.name: Required value/],
])("a port of a Service whose number another client changes %s", async (_what, options, port, refusal) => {
  await using world = await simulate({ seed: 2, operators: [shopOf(options)] });
  await world.apply(Candy({ name: "lolly", spec: { flavors: [] } }));
  await world.settled();
  await world.patch(Service, "shop", { spec: { ports: [{ port: 81, protocol: "TCP", targetPort: 80 }] } });
  await world.run(30_000);
  expect((await world.get(Service, "shop")).spec?.ports).toMatchObject([{ port }]);
  const stalled = conditionOf(await world.get(Candy, "lolly"), "Stalled");
  if (refusal === undefined) expect(stalled?.status).not.toBe("True");
  else expect(stalled).toMatchObject({ status: "True", message: expect.stringMatching(refusal) });
  await world.expectQuiet(refusal === undefined ? {} : { failing: refusal });
});

test("a container port that another client adds stays, and breaks no rule of the operator", async () => {
  const labels = { app: "shop" };
  const containers = [{ name: "shop", image: "shop:1", ports: [{ containerPort: 80 }] }];
  const template = { metadata: { labels }, spec: { containers } };
  const shop = controller(Candy, {
    owns: [Deployment],
    async reconcile(_candy, { apply, status }) {
      await apply(Deployment({ name: "shop", spec: { selector: { matchLabels: labels }, template } }));
      await status({ wrappers: 1 });
    },
  });
  const worlds = [story("is made", Candy({ name: "lolly", spec: { flavors: [] } }))];
  const at = { by: "shop", write: "PATCH default/candies/lolly/status", nth: 1 };
  const faults = [{ kind: "E2", at, child: { resource: "deployments", rank: 1 }, own: true, of: "spec" }];
  const subject = defineOperator({ name: "shop", controllers: [shop] });
  const report = await replaySchedule(subject, { worlds }, JSON.stringify({ seed: 1, story: "is made", faults }));
  expect(report.struck.map(({ fault }) => fault)).toEqual(faults);
  expect(report.hops.some(({ who, what }) => who === "somebody" && what.endsWith("/deployments/shop"))).toBe(true);
  expect(report.broken).toEqual([]);
});
