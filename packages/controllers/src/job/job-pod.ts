/** A pod of a Job, and what its labels and annotations say. */
import { type Job, Pod, type PodSpec } from "@setpoint/api";
import type { Stored } from "@setpoint/client";

/** Stays on a pod until the Job has counted it: a pod that is deleted before would be lost for the count. */
export const trackingFinalizer = "batch.kubernetes.io/job-tracking";
const indexKey = "batch.kubernetes.io/job-completion-index";
const failureCountKey = "batch.kubernetes.io/job-index-failure-count";
const podNameMax = 63;
const indexVariable = "JOB_COMPLETION_INDEX";

/** What a pod is for. */
export interface PodPurpose {
  /** Random, for its name. */
  readonly suffix: string;
  /** Of an Indexed Job. */
  readonly index?: number;
  /** How often this index has failed before, when the Job limits that for each index. */
  readonly failuresBefore?: number;
}

export function jobPod(job: Stored<Job>, { suffix, index, failuresBefore }: PodPurpose): Pod {
  const { metadata = {}, spec } = job.spec?.template ?? {};
  if (spec === undefined) throw new Error(`Job "${job.metadata.name}" has a template without a spec`);
  const indexText = index === undefined ? {} : { [indexKey]: String(index) };
  const failures = failuresBefore === undefined ? {} : { [failureCountKey]: String(failuresBefore) };
  const tail = index === undefined ? `-${suffix}` : `-${index}-${suffix}`;
  return Pod({
    name: `${job.metadata.name.slice(0, podNameMax - tail.length)}${tail}`,
    namespace: job.metadata.namespace ?? "",
    labels: { ...metadata.labels, ...indexText },
    annotations: { ...metadata.annotations, ...indexText, ...failures },
    finalizers: [...(metadata.finalizers ?? []), trackingFinalizer],
    spec: index === undefined ? spec : indexed(job.metadata.name, spec, index),
  });
}

export function isTracked(pod: Pod): boolean {
  return pod.metadata.finalizers?.includes(trackingFinalizer) === true;
}

/** Undefined for a pod without one, or with none that can be. */
export function indexOf(pod: Pod): number | undefined {
  const text = pod.metadata.annotations?.[indexKey] ?? "";
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

/** How often its index had failed before this pod. */
export function failuresBefore(pod: Pod): number {
  return Number(pod.metadata.annotations?.[failureCountKey] ?? 0);
}

/** Each container learns its index from a variable, and others find the pod by its host name. */
function indexed(job: string, spec: PodSpec, index: number): PodSpec {
  const withIndex = <T extends { readonly env?: PodSpec["containers"][number]["env"] }>(container: T): T => {
    if (container.env?.some(({ name }) => name === indexVariable) === true) return container;
    const variable = { name: indexVariable, valueFrom: { fieldRef: { fieldPath: `metadata.labels['${indexKey}']` } } };
    return { ...container, env: [...(container.env ?? []), variable] };
  };
  return {
    ...spec,
    hostname: `${job}-${index}`,
    containers: spec.containers.map(withIndex),
    ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(withIndex) }),
  };
}
