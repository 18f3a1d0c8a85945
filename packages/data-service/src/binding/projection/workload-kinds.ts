/** The kinds of workloads that a binding is projected into, and where their pod templates are. */
import { createMergePatch, type KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "setpoint";
import { CronJob, DaemonSet, Deployment, Job, PodTemplate, type PodTemplateSpec, StatefulSet } from "setpoint/kinds";
import type { BoundTemplate } from "./pod-template-binding.ts";

interface WorkloadKind {
  readonly kind: KindRef;
  /** The path of the pod template. */
  readonly path: readonly string[];
}

const inSpec = ["spec", "template"];

export const workloadKinds: readonly WorkloadKind[] = [
  { kind: Deployment, path: inSpec },
  { kind: StatefulSet, path: inSpec },
  { kind: DaemonSet, path: inSpec },
  { kind: Job, path: inSpec },
  { kind: CronJob, path: ["spec", "jobTemplate", "spec", "template"] },
  { kind: PodTemplate, path: ["template"] },
];

export function workloadKindOf(apiVersion: string, kind: string): WorkloadKind | undefined {
  return workloadKinds.find((each) => each.kind.kind === kind && apiVersionOf(each.kind) === apiVersion);
}

function apiVersionOf({ group, version }: KindRef): string {
  return group === "" ? version : `${group}/${version}`;
}

export function boundTemplate(object: Stored<KubeObject>, { path }: WorkloadKind): BoundTemplate {
  const template = path.reduce<unknown>(
    (value, key) => (value as Readonly<Record<string, unknown>> | undefined)?.[key],
    object,
  );
  // The server has checked the object by its kind's schema.
  return { template: (template ?? {}) as PodTemplateSpec, annotations: object.metadata.annotations ?? {} };
}

/** A merge patch from one form of a workload to another; undefined when they are equal. */
export function workloadPatch(
  from: BoundTemplate,
  to: BoundTemplate,
  { path }: WorkloadKind,
): Readonly<Record<string, unknown>> | undefined {
  const nested = ({ template, annotations }: BoundTemplate): Readonly<Record<string, unknown>> => ({
    metadata: { annotations },
    ...path.reduceRight<object>((inner, key) => ({ [key]: inner }), template),
  });
  const patch = createMergePatch(nested(from), nested(to));
  return Object.keys(patch).length === 0 ? undefined : patch;
}
