/** The ConfigMaps with the rules of a workload; pure. */
import { ConfigMap } from "setpoint/kinds";
import { ruleConfigMapName } from "../rules/rule-files.ts";
import type { Place } from "./own-secret.ts";

/** `workload` is the name of its own objects; `labels` are those of the ConfigMaps beside the place's own. */
export function rulesConfigMaps(
  place: Place,
  workload: string,
  labels: Place["labels"],
  packs: readonly Readonly<Record<string, string>>[],
): readonly ConfigMap[] {
  return packs.map((data, index) =>
    ConfigMap({
      namespace: place.namespace,
      name: ruleConfigMapName(workload, index),
      labels: { ...place.labels, ...labels },
      data,
    }),
  );
}
