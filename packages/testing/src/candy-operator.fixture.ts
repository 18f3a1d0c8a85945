/** The smallest operator with children and a status. */
import { ConfigMap } from "@setpoint/api";
import { conditions, controller, defineKind, defineOperator, type Operator } from "setpoint";
import { z } from "zod";

/** Flavors to be wrapped. */
export const Candy = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Candy",
  spec: z.object({ flavors: z.array(z.string()) }),
  status: z.object({ wrappers: z.int().optional(), conditions: conditions().optional() }),
});

/** One ConfigMap for each flavor. */
export const candyOperator: Operator = defineOperator({
  name: "candy",
  controllers: [
    controller(Candy, {
      owns: { wrappers: ConfigMap },
      desired: ({ metadata, spec }, { wrappers }) => ({
        children: spec.flavors.map((flavor) => ConfigMap({ name: `${metadata.name}-${flavor}`, data: { flavor } })),
        status: { wrappers: wrappers.length },
      }),
    }),
  ],
});
