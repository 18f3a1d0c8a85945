/** All controllers that an operator gets for its engine. */
import type { controller, KindRef, KubeObject } from "setpoint";
import type { PolicyRule, WriteVerb } from "setpoint/install";
import { Pod } from "setpoint/kinds";
import { backupController } from "./backup/backup-controller.ts";
import { drillController } from "./drill/drill-controller.ts";
import type { EngineControl } from "./engine/control.ts";
import { Backup } from "./kinds/backup.ts";
import { hasUsers } from "./binding/observe-binding.ts";
import { serviceBindingRules, serviceBindings } from "./binding/service-bindings.ts";
import { Restore } from "./kinds/restore.ts";
import { planController } from "./plan/plan-controller.ts";
import { restoreController } from "./restore/restore-controller.ts";
import type { ControllerOptions } from "./transfer/controller-options.ts";

/**
 * Backups, plans, restores, drills and, where the engine has users, bindings of one engine, for
 * `defineOperator`.
 */
export function dataServiceControllers<Instance extends KubeObject>(
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

/** What these controllers do to the kinds that they own, for `writes` of `defineOperator`. */
export const dataServiceWrites: ReadonlyMap<KindRef, readonly WriteVerb[]> = new Map<KindRef, readonly WriteVerb[]>([
  [Pod, ["create", "delete"]],
  [Backup, ["create", "delete"]],
  [Restore, ["create", "delete"]],
]);

/**
 * What they may do beyond that, for `permissions`: instances, claims and Backups have no controller of theirs
 * as owner.
 */
export function dataServicePermissions<Instance extends KubeObject>(
  engine: EngineControl<Instance>,
): readonly PolicyRule[] {
  const { kind } = engine;
  return [
    ...(hasUsers(engine) ? serviceBindingRules : []),
    { apiGroups: [kind.group], resources: [kind.plural], verbs: ["create", "patch", "delete"] },
    { apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: ["create", "delete"] },
  ];
}
