/** The operator for HatefulSets, assembled of its parts. */
import { controller, defineOperator, type KindRef, type Operator } from "setpoint";
import type { PolicyRule, WriteVerb } from "setpoint/install";
import { NetworkPolicy } from "setpoint/kinds";
import { record, strike, undo, undoAll } from "./act/act.ts";
import { chaosNames } from "./kind/chaos-names.ts";
import { HatefulSet } from "./kind/hateful-set.ts";
import { observe } from "./observe/observe.ts";
import { ResourceNames } from "./observe/resource-names.ts";
import type { ChaosActions } from "./plan/chaos-step.ts";
import { plan } from "./plan/plan.ts";
import { conditionsOf, health, statusOf } from "./plan/status.ts";
import type { Seen } from "./seen/seen.ts";

/** Pods are ended by eviction; `delete` is for a spec that ignores budgets. */
const permissions: readonly PolicyRule[] = [
  { apiGroups: [""], resources: ["pods"], verbs: ["list", "delete"] },
  { apiGroups: [""], resources: ["pods/eviction"], verbs: ["create"] },
  { apiGroups: [""], resources: ["services"], verbs: ["get"] },
  { apiGroups: [""], resources: ["namespaces"], verbs: ["get"] },
  { apiGroups: ["policy"], resources: ["poddisruptionbudgets"], verbs: ["list"] },
  // Owners of pods: their labels opt in, their status says who leads and whether they are healthy.
  { apiGroups: ["apps"], resources: ["daemonsets", "deployments", "replicasets", "statefulsets"], verbs: ["get"] },
  { apiGroups: ["etcd.setpoint.dev"], resources: ["etcdclusters"], verbs: ["get"] },
  { apiGroups: ["postgres.setpoint.dev"], resources: ["postgresclusters"], verbs: ["get"] },
];

const writes = new Map<KindRef, readonly WriteVerb[]>([[NetworkPolicy, ["create", "delete"]]]);

export function hatefulSetOperator(): Operator {
  const names = new ResourceNames();
  const sets = controller<HatefulSet, Seen, ChaosActions>(HatefulSet, {
    health,
    owns: [{ kind: NetworkPolicy, labelSelector: chaosNames.fault }],
    observe: (set, context) => observe(set, context, names),
    plan,
    cleanup: undoAll,
    status: (seen, step, { now }) => statusOf(seen, step, Date.parse(now)),
    conditions: conditionsOf,
    actions: {
      strike,
      pretend: record,
      decline: record,
      recordRecovery: record,
      withdraw: record,
      abort: record,
      undo,
    },
  });
  return defineOperator({ name: "hateful-set", controllers: [sets], permissions, writes });
}
