/** The status of an Alertmanager; pure. */
import type { Alertmanager } from "../kind/alertmanager.ts";
import type { AlertmanagerSeen } from "../seen/alertmanager-seen.ts";
import { replicasOf } from "../workload/alertmanager-arguments.ts";
import { alertmanagerSelector } from "../workload/alertmanager-names.ts";
import { countsOf, outcomeOf, replicaStatus, selectorText, type WorkloadFacts } from "./conditions.ts";
import type { Plan } from "./outcome.ts";

export type AlertmanagerStatus = Omit<NonNullable<Alertmanager["status"]>, "conditions">;

export function alertmanagerFacts({ alertmanager, statefulSets, pods }: AlertmanagerSeen): WorkloadFacts {
  const { spec } = alertmanager;
  return {
    replicas: replicasOf(spec),
    listensLocally: spec.listenLocal === true,
    counts: countsOf(statefulSets),
    pods,
  };
}

export function alertmanagerStatus(seen: AlertmanagerSeen, plan: Plan): AlertmanagerStatus {
  const { metadata, spec, status } = seen.alertmanager;
  return {
    observedGeneration: metadata.generation,
    paused: spec.paused === true,
    ...replicaStatus(alertmanagerFacts(seen)),
    selector: selectorText(alertmanagerSelector(metadata.name)),
    ...outcomeOf(plan, status?.configurationHash),
  };
}
