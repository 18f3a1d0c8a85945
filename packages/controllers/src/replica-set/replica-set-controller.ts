import { Pod, ReplicaSet } from "@setpoint/api";
import { controller, type ControllerDefinition } from "@setpoint/runtime";
import { watchingOrphans } from "../claim-children.ts";
import { reconcileReplicas } from "./replicas.ts";
import { changesMoreThanConditions } from "../status-corrected.ts";

/**
 * Keeps the number of pods that a ReplicaSet asks for. It adopts matching pods without an owner, and releases
 * and replaces pods that no longer match.
 */
export const replicaSets: ControllerDefinition = controller(ReplicaSet, {
  name: "replicaset",
  eventSource: "replicaset-controller",
  predicate: changesMoreThanConditions,
  owns: [Pod],
  watches: [watchingOrphans(Pod, ReplicaSet)],
  reconcile: (set, context) => reconcileReplicas(ReplicaSet, set, set.spec?.selector, context),
});
