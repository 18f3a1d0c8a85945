/** The smallest operator: a Candy becomes a ConfigMap that says its flavor. */
import { ConfigMap } from "setpoint/kinds";
import { age, controller, defineKind, defineOperator } from "setpoint";
import { z } from "zod";

export const Candy = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "Candy",
  spec: z.object({ name: z.string(), flavor: z.string().default("mint") }),
  status: z.object({ wrapped: z.boolean() }),
  printerColumns: { Flavor: "spec.flavor", Wrapped: "status.wrapped", Age: age() },
});

export const candies = controller(Candy, {
  owns: { wrappers: ConfigMap },
  desired: (candy, { wrappers }) => ({
    children: [ConfigMap({ name: `${candy.metadata.name}-wrapper`, data: candy.spec })],
    status: { wrapped: wrappers.length > 0 },
  }),
});

export default defineOperator({ name: "candy", controllers: [candies] });
