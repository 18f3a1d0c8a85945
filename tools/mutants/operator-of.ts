/** Puts a mutant's reconcile function into an operator. */
import {
  ConfigMap,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Secret,
  Service,
  StatefulSet,
} from "@setpoint/api";
import type { NamespacedName } from "@setpoint/apimachinery";
import type { OperatorProcess, OperatorSource } from "@setpoint/testing";
import {
  controller,
  defineOperator,
  type KindRef,
  type KubeObject,
  type Operator,
  type ReconcileContext,
  type Result,
  type Stored,
} from "setpoint";
import { Store } from "./store.ts";

export type Reconcile = (store: Stored<Store>, context: ReconcileContext) => Promise<Result | void>;

export interface MutantController {
  readonly reconcile: Reconcile;
  readonly cleanup?: Reconcile;
  readonly name?: string;
  readonly reconcileDeleting?: boolean;
  readonly ledger?: boolean;
  /** The kinds of its children, which are watched and struck; default: all that any mutant has. */
  readonly children?: readonly KindRef[];
}

/** All that a mutant's children may be. */
const childKinds: readonly KindRef[] = [
  ConfigMap,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Secret,
  Service,
  StatefulSet,
];
const verbs = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

/** Each process calls `make` again: a crash loses what it remembers. */
export function operatorOf(make: (process: OperatorProcess) => readonly MutantController[]): OperatorSource {
  return (process) => build(make(process));
}

function build(parts: readonly MutantController[]): Operator {
  const controllers = parts.map(({ reconcile, cleanup, children = childKinds, ...rest }) =>
    controller(Store, {
      reconcile,
      watches: children.map((of) => ({ of, wakes: storeOf })),
      ...(cleanup === undefined ? {} : { cleanup }),
      ...rest,
    }),
  );
  return defineOperator({
    name: "store",
    controllers,
    permissions: [
      ...[...childKinds, Store].map(({ group, plural }) => ({
        apiGroups: [group],
        resources: [plural, `${plural}/status`, `${plural}/finalizers`],
        verbs,
      })),
      { apiGroups: [""], resources: ["pods/eviction"], verbs: ["create"] },
    ],
  });
}

/** By its label and by its name: anybody may change a label, also of a child that is about to go. */
function storeOf({ metadata }: Stored<KubeObject>): readonly NamespacedName[] {
  const { namespace = "default", name, labels } = metadata;
  const stores = new Set([labels?.["store"], name.split("-")[0]]);
  return [...stores].flatMap((each) => (each === undefined ? [] : [{ name: each, namespace }]));
}
