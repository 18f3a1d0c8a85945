import { SetpointError, type KubeObject } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import { errControllerInvalid } from "../errors.ts";
import { fieldHandlersMax, runFieldHandlers, type FieldHandler } from "./field-handlers.ts";
import type { ControllerDefinition } from "./controller-definition.ts";

/** A reconcile before which the handlers of changed fields are called. */
export function withFieldHandlers<T extends KubeObject>(
  controller: string,
  kind: KindRef,
  handlers: readonly FieldHandler<T>[] | undefined,
  reconcile: ControllerDefinition["reconcile"],
): ControllerDefinition["reconcile"] {
  if (handlers === undefined) return reconcile;
  const refuse = (problem: string): never => {
    throw new SetpointError(errControllerInvalid, `Cannot use controller "${controller}": ${problem}`);
  };
  const paths = handlers.map(({ path }) => path);
  const twice = paths.find((path, i) => paths.indexOf(path) !== i);
  if (twice !== undefined) refuse(`\`fields\` has two handlers of "${twice}"; one of them is enough`);
  if (paths.length > fieldHandlersMax)
    refuse(`\`fields\` has ${paths.length} handlers; at most ${fieldHandlersMax} can be remembered`);
  // The handlers get objects of the controller's kind alone.
  const untyped = handlers as readonly FieldHandler[];
  return async (object, context, steps) => {
    if (object.metadata.deletionTimestamp !== undefined) return reconcile(object, context, steps);
    return reconcile(await runFieldHandlers(untyped, kind, object, context, controller), context, steps);
  };
}
