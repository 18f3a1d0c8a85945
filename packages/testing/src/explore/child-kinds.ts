import type { KindRef } from "@setpoint/client";
import type { ControllerDefinition } from "@setpoint/runtime";

/** What controllers make or look after: the kinds that they own, and those that they watch and do not reconcile. */
export function childKindsOf(controllers: readonly ControllerDefinition[]): readonly KindRef[] {
  const parents = new Set(controllers.map(({ kind }) => idOf(kind)));
  const kinds = new Map<string, KindRef>();
  for (const { owns, watches } of controllers)
    for (const kind of [...owns, ...watches.map((each) => each.of).filter((each) => !parents.has(idOf(each)))])
      kinds.set(idOf(kind), kind);
  return [...kinds.values()];
}

function idOf({ group, plural }: KindRef): string {
  return `${plural}.${group}`;
}
