/** The kind that all mutants reconcile: a store with replicas, volumes and a few switches. */
import { defineKind, type ObjectOf } from "setpoint";
import { z } from "zod";

export const Store = defineKind({
  group: "mutants.setpoint.dev",
  version: "v1",
  kind: "Store",
  spec: z.object({
    replicas: z.int().min(0).max(9).default(1),
    storage: z.string().default("1Gi"),
    tls: z.boolean().default(false),
    arbiter: z.boolean().default(false),
    port: z.int().default(80),
    maxUnavailable: z.int().default(1),
    image: z.string().default("store:1"),
    config: z.string().default("a"),
    labels: z.record(z.string(), z.string()).optional(),
    backup: z.object({ schedule: z.string() }).optional(),
  }),
  status: z.object({
    phase: z.string().optional(),
    readyReplicas: z.int().optional(),
    created: z.int().optional(),
    backups: z.int().optional(),
    lastBackupMs: z.int().optional(),
    accepted: z.boolean().optional(),
  }),
});

export type Store = ObjectOf<typeof Store>;
