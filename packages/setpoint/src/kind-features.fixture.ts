/** A kind that uses everything that `defineKind` offers. */
import {
  age,
  atMostOneOf,
  conditionColumn,
  conditions,
  defineKind,
  duration,
  embeddedObject,
  exactlyOneOf,
  field,
  intOrString,
  labelSelector,
  podMetadata,
  preserved,
  quantity,
  rule,
  timestamp,
} from "@setpoint/schema";
import { z } from "zod";

export const Everything = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "Everything",
  shortNames: ["evy"],
  categories: ["examples"],
  description: "One of each.",
  spec: z.object({
    replicas: z.int().min(0).max(10).default(1),
    engine: field(z.string().optional(), { immutable: true }),
    size: quantity().default("1Gi"),
    every: field(duration().optional(), { rules: [rule("self >= duration('1s')", "at least a second")] }),
    since: timestamp().optional(),
    port: intOrString().optional(),
    store: field(
      z.object({ s3: z.object({ bucket: z.string() }).optional(), local: z.object({ path: z.string() }).optional() }),
      { rules: [exactlyOneOf("s3", "local")] },
    ).optional(),
    mode: field(z.object({ fast: z.boolean().optional(), safe: z.boolean().optional() }), {
      rules: [atMostOneOf("fast", "safe")],
    }).optional(),
    ports: field(
      z.array(z.object({ name: z.string().max(20), number: z.int(), note: z.string().optional() })).max(20),
      {
        listType: "map",
        listMapKeys: ["name"],
      },
    ).optional(),
    tags: field(z.array(z.string().max(20)).max(10), { listType: "set" }).optional(),
    limits: field(z.record(z.string(), z.string()), { mapType: "granular" }).optional(),
    selector: labelSelector().optional(),
    metadata: podMetadata().optional(),
    anything: preserved().optional(),
    whole: embeddedObject().optional(),
  }),
  status: z.object({
    replicas: z.int(),
    selector: z.string().optional(),
    conditions: conditions().optional(),
  }),
  scale: { specReplicas: "replicas", statusReplicas: "replicas", selector: "selector" },
  printerColumns: {
    Desired: "spec.replicas",
    Engine: { path: "spec.engine", priority: 1 },
    Ready: conditionColumn("Ready"),
    Age: age(),
  },
  selectableFields: ["spec.engine"],
  rules: [
    rule("!has(oldSelf.status) || self.spec.replicas <= oldSelf.spec.replicas + 5", "grow by at most 5 at a time"),
  ],
  versions: {
    v1alpha1: {
      spec: z.object({ count: z.int().min(0).max(10).default(1) }),
      up: ({ count }) => ({ replicas: count }),
      down: ({ replicas }) => ({ count: replicas }),
      deprecated: "examples.setpoint.dev/v1alpha1 Everything goes away; use v1",
    },
  },
});
