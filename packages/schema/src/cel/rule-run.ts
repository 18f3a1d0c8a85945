/** Checks one object against the rules of its schema. */
import { deepEqual } from "@setpoint/apimachinery";
import type { FieldError } from "@setpoint/apimachinery";
import { indexPath, joinPath } from "../field-path.ts";
import { goValue } from "../go-value.ts";
import { isJsonObject } from "../json-object.ts";
import { itemKey } from "../list-types.ts";
import type { ValidationRule } from "../structural-schema.ts";
import { noField } from "../value-checks.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import type { RuleNode } from "./rule-tree.ts";
import { CelFault, CelOptional, type Value } from "./value.ts";

/** What one expression may cost, in steps of the interpreter. */
const expressionCostMax = 1_000_000;
/** What all rules of one object may cost together. */
const objectCostMax = 10_000_000;
const messageBytesMax = 5 * 1024;

const budgetSpent = "validation failed due to running out of cost budget, no further validation rules will be run";

/** A value with what it was before the update. */
interface Place {
  readonly value: unknown;
  /** Undefined when there is no earlier value to compare with. */
  readonly old: unknown;
  readonly path: string;
  /** Whether value, or what holds it, is as it was: then an error in it is not an error of this update. */
  readonly isUnchanged: () => boolean;
}

/** Thrown when the budget is used up: no other rule runs. */
class BudgetSpent extends Error {}

export function runRules(root: RuleNode, value: unknown, old: unknown): readonly FieldError[] {
  const run = new RuleRun();
  const isUnchanged = (): boolean => old !== undefined && deepEqual(value, old);
  try {
    run.visit(root, { value, old, path: "", isUnchanged });
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error;
  }
  return run.errors;
}

class RuleRun {
  readonly errors: FieldError[] = [];
  #budget = objectCostMax;

  visit(node: RuleNode, place: Place): void {
    const { value } = place;
    // A rule speaks of values that are there; about null, the rules of what holds it speak.
    if (value === null || value === undefined) return;
    if (node.rules.length > 0) this.#runAll(node, place);
    if (Array.isArray(value)) this.#visitItems(node, place, value);
    else if (isJsonObject(value)) this.#visitFields(node, place, value);
  }

  #visitFields(node: RuleNode, { old, path, isUnchanged }: Place, value: Readonly<Record<string, unknown>>): void {
    const before = isJsonObject(old) ? old : undefined;
    const visit = (child: RuleNode, name: string, at: string): void => {
      const [now, then] = [value[name], before?.[name]];
      const same = then === undefined ? isUnchanged : (): boolean => deepEqual(now, then);
      this.visit(child, { value: now, old: then, path: at, isUnchanged: same });
    };
    if (node.values !== undefined) for (const key of Object.keys(value)) visit(node.values, key, `${path}[${key}]`);
    for (const [name, child] of node.fields) if (Object.hasOwn(value, name)) visit(child, name, joinPath(path, name));
  }

  #visitItems(node: RuleNode, { old, path, isUnchanged }: Place, items: readonly unknown[]): void {
    const child = node.items;
    if (child === undefined) return;
    const { schema } = node;
    const hasKeys = schema["x-kubernetes-list-type"] === "map" && Array.isArray(old);
    const before = hasKeys ? new Map(old.map((item: unknown) => [itemKey(schema, item), item])) : undefined;
    for (const [index, value] of items.entries()) {
      const then = before?.get(itemKey(schema, value));
      const same = then === undefined ? isUnchanged : (): boolean => deepEqual(value, then);
      this.visit(child, { value, old: then, path: indexPath(path, index), isUnchanged: same });
    }
  }

  #runAll({ rules, shape, schema }: RuleNode, place: Place): void {
    if (shape === undefined) return;
    const self = shape.wrap(place.value);
    const old = place.old === undefined || place.old === null ? undefined : shape.wrap(place.old);
    const isPrinted = schema.type !== "object" && schema.type !== "array" && place.path !== "";
    for (const rule of rules) {
      if (rule.usesOldSelf && old === undefined && rule.source.optionalOldSelf !== true) continue;
      const oldSelf = rule.source.optionalOldSelf === true ? new CelOptional(old) : (old ?? null);
      this.#runOne(rule, [self, oldSelf], place, isPrinted, schema.type ?? "");
    }
  }

  #runOne(rule: CompiledRule, values: readonly Value[], place: Place, isPrinted: boolean, type: string): void {
    const { source, program, fieldPath } = rule;
    const path = place.path === "" ? noField : place.path;
    const invalid = (detail: string): void => this.#report(path, `Invalid value: ${goValue(type)}: ${detail}`);
    const { value, cost, isCancelled } = program.run(values, expressionCostMax);
    if (cost > this.#budget) {
      invalid(budgetSpent);
      throw new BudgetSpent();
    }
    this.#budget -= cost;
    if (isCancelled) {
      const what = "'operation cancelled: actual cost limit exceeded'";
      invalid(
        `${what}: no further validation rules will be run due to call cost exceeds limit for rule: ${ruleText(source)}`,
      );
      throw new BudgetSpent();
    }
    if (value instanceof CelFault) {
      invalid(faultDetail(value, source));
      return;
    }
    if (value === true || (!rule.usesOldSelf && place.isUnchanged())) return;
    const detail = this.#messageOf(rule, values) ?? defaultMessage(source);
    const field = fieldPath === "" ? path : place.path === "" ? fieldPath : joinField(place.path, fieldPath);
    this.errors.push(failure(field, source, isPrinted ? goValue(place.value) : undefined, detail));
  }

  #report(field: string, message: string): void {
    this.errors.push({ type: "FieldValueInvalid", field, message });
  }

  /** The result of `messageExpression`, if it is a usable message. */
  #messageOf({ message }: CompiledRule, values: readonly Value[]): string | undefined {
    if (message === undefined) return undefined;
    const { value, cost, isCancelled } = message.run(values, expressionCostMax);
    this.#budget -= Math.min(cost, this.#budget);
    if (isCancelled || typeof value !== "string") return undefined;
    const text = value.trim();
    const isTooLong = new TextEncoder().encode(text).length > messageBytesMax;
    return text === "" || text.includes("\n") || isTooLong ? undefined : text;
  }
}

function joinField(path: string, relative: string): string {
  return relative.startsWith("[") ? `${path}${relative}` : joinPath(path, relative);
}

function failure(field: string, { reason }: ValidationRule, printed: string | undefined, detail: string): FieldError {
  switch (reason) {
    case "FieldValueForbidden":
      return { type: reason, field, message: `Forbidden: ${detail}` };
    case "FieldValueRequired":
      return { type: reason, field, message: `Required value: ${detail}` };
    case "FieldValueDuplicate":
      return {
        type: reason,
        field,
        message: printed === undefined ? "Duplicate value" : `Duplicate value: ${printed}`,
      };
    default: {
      const value = printed === undefined ? "" : ` ${printed}:`;
      return { type: "FieldValueInvalid", field, message: `Invalid value:${value} ${detail}` };
    }
  }
}

function faultDetail({ message }: CelFault, source: ValidationRule): string {
  if (!message.startsWith("no such overload")) return `${message} evaluating rule: ${ruleText(source)}`;
  return `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${ruleText(source)}`;
}

function ruleText({ rule, message = "" }: ValidationRule): string {
  return (message === "" ? rule : message).trim();
}

function defaultMessage(source: ValidationRule): string {
  const { message = "" } = source;
  return message === "" ? `failed rule: ${ruleText(source)}` : message.trim();
}
