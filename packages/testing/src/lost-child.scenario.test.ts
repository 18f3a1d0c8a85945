import { ConfigMap } from "@setpoint/api";
import { controller, defineKind, defineOperator } from "setpoint";
import { expect, test } from "vitest";
import { z } from "zod";
import { simulate } from "./simulate.ts";

const Candy = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "Candy",
  spec: z.object({ flavor: z.string() }),
  status: z.object({ wrapped: z.boolean() }),
});

const candies = defineOperator({
  name: "candy",
  controllers: [
    controller(Candy, {
      owns: { wrappers: ConfigMap },
      desired: ({ metadata, spec }) => ({ children: [ConfigMap({ name: `${metadata.name}-wrapper`, data: spec })] }),
    }),
  ],
});

test("a child that a client deletes before the cache has seen it is recreated", async () => {
  await using world = await simulate({
    seed: 1,
    operators: [candies],
    faults: [
      // The watch breaks before it tells of the child, and what follows is a list without it.
      { kind: "C5", at: { by: "candy", event: "configmaps", nth: 1 }, forMs: 20_000 },
      {
        kind: "E1",
        at: { by: "candy", write: "PATCH default/configmaps/lolly-wrapper", nth: 1 },
        child: { resource: "configmaps", rank: 0 },
      },
    ],
  });
  await world.apply(Candy({ name: "lolly", spec: { flavor: "mint" } }));
  await world.run(120_000);
  expect((await world.list(ConfigMap)).map(({ metadata }) => metadata.name)).toContain("lolly-wrapper");
});
