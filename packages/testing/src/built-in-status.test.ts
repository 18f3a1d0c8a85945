import { Deployment } from "@setpoint/api";
import { controller, defineOperator } from "setpoint";
import { expect, test } from "vitest";
import { simulate } from "./index.ts";

test("a built-in kind that drops empty fields of a status gives no warning about a schema", async () => {
  const deployments = controller(Deployment, {
    reconcile: async (_deployment, { status }) => status({ replicas: 0, readyReplicas: 0, collisionCount: 0 }),
  });
  await using world = await simulate({
    seed: 1,
    controllers: "collector",
    operators: [defineOperator({ name: "counts", controllers: [deployments] })],
  });
  const selector = { matchLabels: { app: "shop" } };
  const template = { metadata: { labels: { app: "shop" } }, spec: { containers: [{ name: "web", image: "web" }] } };
  await world.apply(Deployment({ name: "shop", spec: { replicas: 0, selector, template } }));
  await world.settled();
  expect(world.host.lines.filter(({ level }) => level === "warn").map(({ message }) => message)).toEqual([]);
});
