import { Pod, ReplicationController } from "@setpoint/api";
import type { LabelSelectorObject } from "@setpoint/apimachinery";
import { controller, type ControllerDefinition } from "@setpoint/runtime";
import { watchingOrphans } from "../claim-children.ts";
import { reconcileReplicas } from "../replica-set/replicas.ts";
import { changesMoreThanConditions } from "../status-corrected.ts";

/** As a ReplicaSet, with a plain map of labels as its selector. */
export const replicationControllers: ControllerDefinition = controller(ReplicationController, {
  name: "replicationcontroller",
  eventSource: "replication-controller",
  predicate: changesMoreThanConditions,
  owns: [Pod],
  watches: [watchingOrphans(Pod, ReplicationController, selectorOf)],
  reconcile: (each, context) => reconcileReplicas(ReplicationController, each, selectorOf(each), context),
});

function selectorOf({ spec }: ReplicationController): LabelSelectorObject | undefined {
  return spec?.selector === undefined ? undefined : { matchLabels: spec.selector };
}
