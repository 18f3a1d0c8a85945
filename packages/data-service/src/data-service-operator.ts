/** Makes an operator of an engine: its own controllers, and everything that data services share. */
import { type controller, defineOperator, type KindRef, type KubeObject, type Operator } from "setpoint";
import { podFailureRule } from "setpoint/pods";
import { type PolicyRule, type WriteVerb } from "setpoint/install";
import { Pod } from "setpoint/kinds";
import { acceptanceRules, acceptanceRuns } from "./acceptance/acceptance-runs.ts";
import type { EngineAcceptance } from "./acceptance/engine-acceptance.ts";
import { backupController } from "./backup/backup-controller.ts";
import { hasUsers } from "./binding/observe-binding.ts";
import { serviceBindingRules, serviceBindings } from "./binding/service-bindings.ts";
import { drillController } from "./drill/drill-controller.ts";
import type { EngineControl } from "./engine/control.ts";
import { Backup } from "./kinds/backup.ts";
import { Restore } from "./kinds/restore.ts";
import { type EngineOperations, operationRules, operations } from "./operations/operations.ts";
import { planController } from "./plan/plan-controller.ts";
import { restoreController } from "./restore/restore-controller.ts";
import type { ControllerOptions } from "./transfer/controller-options.ts";

type OperatorInit = Parameters<typeof defineOperator>[0];

/**
 * As for `defineOperator`: `controllers` are the engine's own, and `writes` and `permissions` are what these
 * do. What data services do is added.
 */
export interface DataServiceInit<Instance extends KubeObject> extends Omit<OperatorInit, "name">, ControllerOptions {
  /** The engine, with what its acceptance tests need. The operator has the engine's name. */
  readonly acceptance: EngineAcceptance<Instance>;
  /** Absent when the engine has no long operations. */
  readonly operations?: EngineOperations<Instance>;
}

/**
 * The operator of one engine: its own controllers, and backups, plans, restores, drills, acceptance runs and,
 * where the engine has them, bindings and operations.
 */
export function defineDataService<Instance extends KubeObject>({
  acceptance,
  operations: engineOperations,
  image,
  controllers,
  writes = new Map(),
  permissions = [],
  ...init
}: DataServiceInit<Instance>): Operator {
  const { engine } = acceptance;
  const long = engineOperations === undefined ? [] : [operations(engineOperations)];
  return defineOperator({
    ...init,
    name: engine.name,
    controllers: [
      ...controllers,
      ...long,
      ...engineControllers(engine, { image }),
      acceptanceRuns(acceptance, { image }),
    ],
    writes: new Map([...sharedWrites, ...writes]),
    permissions: [
      ...(engineOperations === undefined ? [] : operationRules),
      podFailureRule,
      ...engineRules(engine),
      ...acceptanceRules,
      ...permissions,
    ],
  });
}

function engineControllers<Instance extends KubeObject>(
  engine: EngineControl<Instance>,
  options: ControllerOptions,
): readonly ReturnType<typeof controller>[] {
  return [
    backupController(engine, options),
    planController(engine),
    restoreController(engine, options),
    ...(hasUsers(engine) ? [serviceBindings(engine)] : []),
    drillController(engine),
  ];
}

/** What these controllers do to the kinds that they own. */
const sharedWrites: ReadonlyMap<KindRef, readonly WriteVerb[]> = new Map<KindRef, readonly WriteVerb[]>([
  [Pod, ["create", "delete"]],
  [Backup, ["create", "delete"]],
  [Restore, ["create", "delete"]],
]);

/** Whether a Secret may be used is read from the Secret: those of stores, and of external instances. */
const secretRule: PolicyRule = { apiGroups: [""], resources: ["secrets"], verbs: ["get"] };

/** What they do beyond that: instances, claims and Backups have no controller of theirs as owner. */
function engineRules<Instance extends KubeObject>(engine: EngineControl<Instance>): readonly PolicyRule[] {
  const { kind } = engine;
  return [
    ...(hasUsers(engine) ? serviceBindingRules : []),
    secretRule,
    { apiGroups: [kind.group], resources: [kind.plural], verbs: ["create", "patch", "delete"] },
    { apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: ["create", "delete"] },
  ];
}
