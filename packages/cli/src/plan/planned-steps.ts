/**
 * The steps of a change, as an operator reports them of an object with `spec.dryRun`: the convention is
 * `status.plannedSteps`, a list of steps with the fields of `PlannedStep`.
 */
import { gvkOf, isJsonObject, type UnstructuredObject } from "@setpoint/apimachinery";
import type { Operator } from "setpoint";

/** One step of a change, in the words of the operator. */
export interface PlannedStep {
  readonly action: string;
  readonly member?: string;
  readonly reason?: string;
  /** What clients notice. */
  readonly interruption?: string;
  /** Why there is no way back after this step. */
  readonly noReturn?: string;
}

/** Whether the kind of the object has `spec.dryRun` and `status.plannedSteps`. */
export function plansItsSteps(operator: Operator, object: UnstructuredObject): boolean {
  const { group, version, kind } = gvkOf(object);
  const schemas = operator.crds().flatMap((crd): readonly unknown[] => {
    const spec = at(crd, "spec");
    if (at(spec, "group") !== group || at(spec, "names", "kind") !== kind) return [];
    const versions = at(spec, "versions");
    return Array.isArray(versions) ? versions.filter((each) => at(each, "name") === version) : [];
  });
  return schemas.some((each) => {
    const fields = at(each, "schema", "openAPIV3Schema", "properties");
    const dryRun = at(fields, "spec", "properties", "dryRun");
    return dryRun !== undefined && at(fields, "status", "properties", "plannedSteps") !== undefined;
  });
}

/** Whether the operator reports the steps of the object, also without a dry run, as for a Restore. */
export function listsSteps(object: UnstructuredObject): boolean {
  return Array.isArray(at(object, "status", "plannedSteps"));
}

/** The steps of the state that the object now asks for; a text says why they are not known. */
export function plannedStepsOf(object: UnstructuredObject): readonly PlannedStep[] | string {
  const isObserved = at(object, "status", "observedGeneration") === object.metadata.generation;
  if (!isObserved) return "the operator has not reconciled the change; see the errors, or set a longer --timeout";
  const steps = at(object, "status", "plannedSteps");
  return Array.isArray(steps) ? steps.map(stepOf) : whyUnknown(object);
}

function whyUnknown(object: UnstructuredObject): string {
  const conditions = at(object, "status", "conditions");
  const all: readonly unknown[] = Array.isArray(conditions) ? conditions : [];
  const message = at(
    all.find((each) => at(each, "type") === "Progressing"),
    "message",
  );
  return typeof message === "string" && message !== "" ? message : "the operator does not report them now";
}

function stepOf(value: unknown): PlannedStep {
  const text = (name: string): string | undefined => {
    const field = at(value, name);
    return typeof field === "string" ? field : undefined;
  };
  const optional = ["member", "reason", "interruption", "noReturn"] as const;
  const known = optional.flatMap((name) => {
    const field = text(name);
    return field === undefined ? [] : [[name, field] as const];
  });
  return { action: text("action") ?? "?", ...Object.fromEntries(known) };
}

/** As a person reads them. */
export function stepLines(steps: readonly PlannedStep[] | string): readonly string[] {
  if (typeof steps === "string") return [`  The steps are not known: ${steps}`];
  if (steps.length === 0) return ["  No steps: its operator restarts and replaces nothing for it."];
  return ["  Steps, in this order:", ...steps.flatMap((step, index) => linesOf(step, index + 1))];
}

function linesOf({ action, member, reason, interruption, noReturn }: PlannedStep, position: number): readonly string[] {
  const what = member === undefined ? action : `${action} ${member}`;
  return [
    `    ${position}. ${what}${reason === undefined ? "" : `: ${reason}`}`,
    ...(interruption === undefined ? [] : [`       interruption: ${interruption}`]),
    ...(noReturn === undefined ? [] : [`       point of no return: ${noReturn}`]),
  ];
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce((inner, name) => (isJsonObject(inner) ? inner[name] : undefined), value);
}
