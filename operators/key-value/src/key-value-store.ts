/** The kind KeyValueStore: one pod that serves a file of keys. */
import { dataClaimStatus } from "@setpoint/data-service";
import { age, conditions, defineKind, type ObjectOf } from "setpoint";
import { z } from "zod";

const status = z.object({
  observedGeneration: z.int().optional(),
  serving: z.boolean(),
  podIP: z.string().optional(),
  ...dataClaimStatus,
  conditions: conditions().optional(),
});

const text = z.string().max(20);

/** The kind KeyValueStore, `keyvalue.setpoint.dev/v1`. */
export const KeyValueStore = defineKind({
  group: "keyvalue.setpoint.dev",
  version: "v1",
  kind: "KeyValueStore",
  spec: z.object({ plan: text.optional(), storage: text.optional(), version: text.default("1.0.0") }),
  status,
  printerColumns: { Serving: "status.serving", Age: age() },
});
export type KeyValueStore = ObjectOf<typeof KeyValueStore>;
