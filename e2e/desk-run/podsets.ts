/** An operator with webhooks and two versions of its kind. */
import { controller, defineKind, defineOperator } from "setpoint";
import { webhooks } from "setpoint/webhooks";
import { z } from "zod";

export const PodSet = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "PodSet",
  spec: z.object({ replicas: z.int() }),
  status: z.object({ seen: z.boolean() }),
  versions: {
    v1beta1: {
      spec: z.object({ size: z.int() }),
      up: ({ size }) => ({ replicas: size }),
      down: ({ replicas }) => ({ size: replicas }),
    },
  },
});

export default defineOperator({
  name: "podsets",
  controllers: [controller(PodSet, { desired: () => ({ children: [], status: { seen: true } }) })],
  webhooks: [
    webhooks(PodSet, {
      mutate: (podSet) => podSet,
      validate({ spec }, { invalid }) {
        if (spec.replicas % 2 === 0) invalid("spec.replicas", "must be odd");
      },
    }),
  ],
});
