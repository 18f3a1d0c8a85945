/** Names, labels and paths of what a ThanosRuler consists of; they are upstream's. */
import { labels, manager } from "./names.ts";

export const rulerService = "thanos-ruler-operated";
export const rulerRulesFolder = "/etc/thanos/rules";
export const rulerConfigFolder = "/etc/thanos/config";
export const rulerWebFolder = "/etc/thanos/web_config";
export const rulerStorageFolder = "/thanos/data";
/** The label of pods whose value is the name of their ThanosRuler. */
export const rulerLabel = "thanos-ruler";

export function rulerName(ruler: string): string {
  return `thanos-ruler-${ruler}`;
}

/** The labels of the pods, by which the StatefulSet knows them. */
export function rulerSelector(ruler: string): Readonly<Record<string, string>> {
  return {
    "app.kubernetes.io/name": "thanos-ruler",
    "app.kubernetes.io/managed-by": manager,
    "app.kubernetes.io/instance": ruler,
    [rulerLabel]: ruler,
  };
}

/** Labels of everything that belongs to a ThanosRuler. */
export function rulerLabels(ruler: string): Readonly<Record<string, string>> {
  return { [labels.managedBy]: manager, ...rulerSelector(ruler) };
}
