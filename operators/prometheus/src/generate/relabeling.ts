/** Relabelings: the steps that turn what was discovered into targets and their labels. */
import type { Relabeling, Selector } from "../kind/scrape-fields.ts";
import { field, filled, given, type Section } from "./generation.ts";

export function labelPart(label: string): string {
  return label.replaceAll(/[^a-zA-Z0-9_]/g, "_");
}

/** The first step of each job keeps the name of the job, before `job` is replaced. */
export const keepJobName: Section = { source_labels: ["job"], target_label: "__tmp_prometheus_job_name" };

/** Pods that have ended are no targets. */
export const dropEndedPods: Section = {
  action: "drop",
  source_labels: ["__meta_kubernetes_pod_phase"],
  regex: "(Failed|Succeeded)",
};

export function keepWhere(sourceLabel: string, regex: string | number): Section {
  return { action: "keep", source_labels: [sourceLabel], regex };
}

export function copyLabel(sourceLabel: string, targetLabel: string): Section {
  return { source_labels: [sourceLabel], target_label: targetLabel };
}

/** A label of a Service or pod whose value, unless it is empty, becomes that of `targetLabel`. */
export function copyUnlessEmpty(sourceLabel: string, targetLabel: string): Section {
  return { source_labels: [sourceLabel], target_label: targetLabel, regex: "(.+)", replacement: "${1}" };
}

/** The labels of pods that a monitor and its Prometheus ask for. */
export function podLabels(...lists: readonly (readonly string[] | undefined)[]): readonly Section[] {
  const labels = lists.flatMap((list) => list ?? []);
  return labels.map((label) => copyUnlessEmpty(`__meta_kubernetes_pod_label_${labelPart(label)}`, labelPart(label)));
}

/** A selector as steps; `of` is what has the labels. */
export function selectByLabels(of: "service" | "pod" | "ingress", selector: Selector): readonly Section[] {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const source = (label: string): string => `__meta_kubernetes_${of}_label_${labelPart(label)}`;
  const present = (label: string): string => `__meta_kubernetes_${of}_labelpresent_${labelPart(label)}`;
  const byValue = (action: string, label: string, values: string): Section => ({
    action,
    source_labels: [source(label), present(label)],
    regex: `(${values});true`,
  });
  const byPresence = (action: string, label: string): Section => ({
    action,
    source_labels: [present(label)],
    regex: "true",
  });
  const names = Object.keys(matchLabels).toSorted();
  return [
    ...names.map((name) => byValue("keep", name, matchLabels[name] ?? "")),
    ...matchExpressions.map(({ key, operator, values = [] }) => {
      switch (operator) {
        case "In":
          return byValue("keep", key, values.join("|"));
        case "NotIn":
          return byValue("drop", key, values.join("|"));
        case "Exists":
          return byPresence("keep", key);
        case "DoesNotExist":
          return byPresence("drop", key);
      }
    }),
  ];
}

/** Steps that users wrote, in the words of Prometheus. */
export function relabelConfigs(relabelings: readonly Relabeling[] | undefined): readonly Section[] {
  return (relabelings ?? []).map((step) => ({
    ...field("source_labels", filled(step.sourceLabels)),
    ...field("separator", step.separator),
    ...field("target_label", given(step.targetLabel)),
    ...field("regex", given(step.regex)),
    ...field("modulus", step.modulus === 0 ? undefined : step.modulus),
    ...field("replacement", step.replacement),
    ...field("action", given(step.action?.toLowerCase())),
  }));
}
