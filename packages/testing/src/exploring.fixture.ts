import { test } from "node:test";
import { ConfigMap } from "setpoint/kinds";
import { patch, reconcilerLaws, remove, story } from "setpoint/testing";
import { controller, defineKind, defineOperator } from "setpoint";
import { z } from "zod";

const Candy = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Candy",
  spec: z.object({ flavor: z.string() }),
});

const candies = controller(Candy, {
  owns: [ConfigMap],
  async reconcile({ metadata: { name }, spec }, { apply }) {
    await apply(ConfigMap({ name: `${name}-wrapper`, data: { flavor: spec.flavor } }));
    await apply(ConfigMap({ name: `${name}-label`, data: { text: `Tastes of ${spec.flavor}` } }));
  },
});

const mint = Candy({ name: "mint", spec: { flavor: "mint" } });

await test("candies keep the laws", async () => {
  await reconcilerLaws(defineOperator({ name: "candy", controllers: [candies] }), {
    seed: 7,
    worlds: [
      mint,
      story(
        "a candy is changed and deleted",
        mint,
        patch(Candy, "mint", { spec: { flavor: "lime" } }),
        remove(Candy, "mint"),
      ),
    ],
  });
});
