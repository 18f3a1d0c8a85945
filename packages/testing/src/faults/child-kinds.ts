import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import type { ControllerDefinition } from "@setpoint/runtime";

/**
 * What controllers make or look after: the kinds that they own, and those that they watch and do not
 * reconcile.
 */
export function childKindsOf(controllers: readonly ControllerDefinition[]): readonly KindRef[] {
  const parents = new Set(controllers.map(({ kind }) => idOf(kind)));
  const kinds = new Map<string, KindRef>();
  for (const { owns, watches } of controllers)
    for (const kind of [...owns, ...watches.map((each) => each.of).filter((each) => !parents.has(idOf(each)))])
      kinds.set(idOf(kind), kind);
  return [...kinds.values()];
}

/** What controllers only read: kinds that they watch, and neither own nor reconcile. */
export function readKindsOf(controllers: readonly ControllerDefinition[]): readonly KindRef[] {
  const owned = new Set(controllers.flatMap(({ owns }) => owns.map(idOf)));
  return childKindsOf(controllers).filter((each) => !owned.has(idOf(each)));
}

export function managersOf(controllers: readonly ControllerDefinition[]): ReadonlySet<string> {
  return new Set(controllers.map(({ fieldManager }) => fieldManager));
}

/** Whether an object has a controller, or one of these has written it. */
export function isChild({ metadata }: KubeObject, managers: ReadonlySet<string>): boolean {
  const isControlled = metadata.ownerReferences?.some(({ controller }) => controller === true) === true;
  return isControlled || metadata.managedFields?.some(({ manager = "" }) => managers.has(manager)) === true;
}

function idOf({ group, plural }: KindRef): string {
  return `${plural}.${group}`;
}
