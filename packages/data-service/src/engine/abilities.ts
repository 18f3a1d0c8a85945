/**
 * What an engine can do. Each ability is one small interface, and all but the base are optional: the layer
 * offers what they allow, and says what an engine cannot do.
 */
import type { KubeObject } from "@setpoint/apimachinery";
import type { EngineControl } from "./control.ts";

const consequences = {
  log: "no archive beside backups: what was written after a backup is not in it",
  target: "a restore ends at a backup, at no other moment",
  volumes: "each member has one volume",
  roles: "no promotion: members are equal, or there is one",
  users: "no bindings",
  external: "no data of instances that no operator runs",
} as const;

/** The name of an optional ability of the half that the operator calls. */
export type AbilityName = keyof typeof consequences;

/** What an engine cannot do, one sentence an ability, by its name. */
export function missingAbilities<Instance extends KubeObject>(
  engine: EngineControl<Instance>,
): Readonly<Partial<Record<AbilityName, string>>> {
  const missing = Object.entries(consequences).filter(([name]) => engine[name as AbilityName] === undefined);
  return Object.fromEntries(missing);
}
