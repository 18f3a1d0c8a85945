/** All controllers that an operator gets for its engine. */
import type { controller, KindRef, KubeObject } from "setpoint";
import type { WriteVerb } from "setpoint/install";
import { Pod } from "setpoint/kinds";
import { backupController } from "./backup/backup-controller.ts";
import type { EngineControl } from "./engine/control.ts";
import type { ControllerOptions } from "./transfer/controller-options.ts";

/** Backups of one engine, for `defineOperator`. */
export function dataServiceControllers<Instance extends KubeObject>(
  engine: EngineControl<Instance>,
  options: ControllerOptions,
): readonly ReturnType<typeof controller>[] {
  return [backupController(engine, options)];
}

/** What these controllers do to the kinds that they own, for `writes` of `defineOperator`. */
export const dataServiceWrites: ReadonlyMap<KindRef, readonly WriteVerb[]> = new Map<KindRef, readonly WriteVerb[]>([
  [Pod, ["create", "delete"]],
]);
