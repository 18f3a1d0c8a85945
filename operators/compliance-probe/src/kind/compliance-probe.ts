/** The kind ComplianceProbe: which forbidden acts are tried, as whom and when, and what came of them. */
import { age, conditions, defineKind, type ObjectOf, rule } from "setpoint";
import { conditionColumn, cronLine, podMetadata, preserved, timestamp, timeZone } from "setpoint/kinds";
import { z } from "zod";
import { catalogue } from "../acts/catalogue.ts";
import { acceptedAct, acceptedMax, actName } from "./accepted.ts";

/** The pod's name adds to the name of the probe. */
const nameLengthMax = 40;
const servicesMax = 20;
/** How many changes a status keeps. */
export const changesMax = 20;
export const reasonLengthMax = 300;

const pod = z.object({
  metadata: podMetadata().optional().describe("Labels, which NetworkPolicies select, and annotations."),
  securityContext: preserved().optional().describe("The securityContext of the pod, as the workload has it."),
  containerSecurityContext: preserved().optional().describe("The securityContext of its containers."),
  resources: preserved().optional().describe("The resources of its containers."),
  nodeSelector: z.record(z.string(), z.string()).optional(),
  tolerations: z.array(preserved()).max(servicesMax).optional(),
  runtimeClassName: z.string().max(253).optional(),
});

const spec = z.object({
  schedule: cronLine()
    .optional()
    .describe("A cron line of five fields, or a nickname such as @daily. Without it, the probe runs when it changes."),
  timeZone: timeZone().default("UTC").describe("The IANA name of the schedule's time zone."),
  suspend: z.boolean().default(false).describe("Whether no runs begin, except those that an annotation asks for."),
  serviceAccountName: z
    .string()
    .max(253)
    .default("default")
    .describe("Whose rights are tried: an account of the namespace of the probe."),
  acts: z.array(actName).max(catalogue.length).optional().describe("The acts to try; all without it."),
  otherNamespace: z
    .string()
    .max(63)
    .default("kube-system")
    .describe("The namespace whose objects the account must not use."),
  deniedServices: z
    .array(
      z
        .string()
        .max(300)
        .regex(/^[^\s:]+:\d{1,5}$/),
    )
    .max(servicesMax)
    .default([])
    .describe("HOST:PORT of services that a NetworkPolicy denies to the pod."),
  accepted: z.array(acceptedAct).max(acceptedMax).default([]).describe("Acts that may be allowed, with the reason."),
  baseline: z
    .object({ configMap: z.string().min(1).max(253) })
    .optional()
    .describe("A ConfigMap of the namespace, whose key accepted.yaml is a list like spec.accepted."),
  pod: pod.default({}).describe("What the pod of a run has, so that it is like the workload."),
  deadlineSeconds: z.int().min(10).max(3_600).default(180).describe("How long a run may take."),
});

const verdict = z.enum(["Denied", "Allowed", "Untried"]);

const result = z.object({
  act: z.string(),
  verdict: verdict.describe("Denied is what is expected. Untried: it could not be tried."),
  reason: z.string().describe("What was seen."),
  firstSeen: timestamp().describe("When the act was first tried."),
  since: timestamp().describe("Since when it has this verdict."),
  lastKnown: z.enum(["Denied", "Allowed"]).optional().describe("The verdict of the newest try that could be made."),
  regressedAt: timestamp().optional().describe("When an act that was denied before became allowed."),
  accepted: z.string().optional().describe("Why it is accepted although it is allowed."),
  acceptedUntil: timestamp().optional(),
});

const change = z.object({ act: z.string(), at: timestamp(), from: verdict, to: verdict });

const run = z.object({
  number: z.int().describe("Counts the runs."),
  pod: z.string(),
  startedAt: timestamp(),
  finishedAt: timestamp(),
  generation: z.int().describe("The generation of the spec that it tried."),
  requested: z.string().optional().describe("The annotation that asked for it."),
  failure: z.string().optional().describe("Why it brought no results, or not all."),
});

const status = z.object({
  observedGeneration: z.int().optional(),
  denied: z.int().optional().describe("How many acts were denied."),
  allowed: z.int().optional().describe("How many acts were allowed and are not accepted."),
  accepted: z.int().optional().describe("How many acts were allowed and are accepted."),
  untried: z.int().optional().describe("How many acts could not be tried."),
  results: z.array(result).optional().describe("One for each act."),
  changes: z.array(change).optional().describe("The newest changes of verdicts, the newest first."),
  lastRun: run.optional(),
  // Text, since kubectl prints a time to come as "<invalid>".
  nextRun: z.string().optional(),
  conditions: conditions().optional(),
});

/** The kind ComplianceProbe, `compliance.setpoint.dev/v1`. */
export const ComplianceProbe = defineKind({
  group: "compliance.setpoint.dev",
  version: "v1",
  kind: "ComplianceProbe",
  description: "Tries forbidden acts in a pod, each expected to be denied.",
  spec,
  status,
  printerColumns: {
    Compliant: conditionColumn("Compliant"),
    Denied: "status.denied",
    Allowed: "status.allowed",
    Accepted: "status.accepted",
    Untried: "status.untried",
    Last: "status.lastRun.finishedAt",
    Next: "status.nextRun",
    Age: age(),
  },
  rules: [
    rule(
      `size(self.metadata.name) <= ${nameLengthMax}`,
      `the name may have at most ${nameLengthMax} characters, because names of pods add to it`,
    ),
  ],
});
export type ComplianceProbe = ObjectOf<typeof ComplianceProbe>;

export type ProbeStatus = Omit<NonNullable<ComplianceProbe["status"]>, "conditions">;
export type ActResult = z.infer<typeof result>;
export type ActChange = z.infer<typeof change>;
export type ProbeRun = z.infer<typeof run>;

/** A change of its value asks for a run now. */
export const runAnnotation = "compliance.setpoint.dev/run";
