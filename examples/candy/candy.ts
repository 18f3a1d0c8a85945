/** The smallest operator: a Candy becomes a ConfigMap that says its flavor. */
import { ConfigMap } from "setpoint/kinds";
import { age, controller, defineKind, defineOperator } from "setpoint";
import { z } from "zod";

export const Candy = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "Candy",
  shortNames: ["cn"],
  description: "A sweet that gets a wrapper.",
  spec: z.object({
    name: z.string().describe("What stands on the wrapper."),
    flavor: z.string().default("mint").describe("What it tastes of."),
  }),
  status: z.object({ wrapped: z.boolean().describe("Whether the wrapper is there.") }),
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
