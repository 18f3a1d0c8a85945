/** Turns a checked expression into closures, one for each node, that count what they cost. */
import type { Call, Expr, ListLiteral, Literal, MapLiteral, OptionalMap } from "./ast.ts";
import { access, accessOptional, isMember, isPresent, selectField, selectOptional } from "./access.ts";
import type { Checked } from "./checker.ts";
import { equals } from "./comparison.ts";
import { comparedCost, equalityCost, hiddenCost, isTooMuch } from "./cost.ts";
import { CostExceeded, type Frame, type Step } from "./frame.ts";
import { planLoop } from "./loop-plan.ts";
import type { Overload } from "./overload.ts";
import { typeConstants } from "./type-constants.ts";
import {
  CelFault,
  CelOpaque,
  CelOptional,
  CelTypeValue,
  CelUint,
  PlainList,
  PlainMap,
  keyName,
  keyText,
  kindOf,
  sizeOf,
  type Value,
} from "./value.ts";

export interface Plan {
  readonly step: Step;
  /** How many variables a frame must have room for. */
  readonly slots: number;
}

/** `variables` are the names of the frame's first slots. */
export function plan(expr: Expr, checked: Checked, variables: readonly string[]): Plan {
  const planner = new Planner(checked, variables);
  const step = planner.plan(expr);
  return { step, slots: planner.slots };
}

const noOverload = new CelFault("no such overload");

/** Functions whose result for a literal is computed once. */
const foldable: ReadonlySet<string> = new Set(
  "bool bytes double duration dyn int string timestamp type uint".split(" "),
);

export class Planner {
  readonly #checked: Checked;
  readonly #slotOf = new Map<string, number>();
  readonly #constants = new WeakMap<Step, Value>();
  slots: number;

  constructor(checked: Checked, variables: readonly string[]) {
    this.#checked = checked;
    for (const [slot, name] of variables.entries()) this.#slotOf.set(name, slot);
    this.slots = variables.length;
  }

  plan(expr: Expr): Step {
    switch (expr.kind) {
      case "literal":
        return this.constant(literalValue(expr));
      case "ident":
        return this.#identifier(expr.name) ?? this.constant(noOverload);
      case "select":
        return this.#select(expr);
      case "presence":
        return this.#presence(expr.operand, expr.field);
      case "call":
        return this.#call(expr);
      case "list":
        return this.#list(expr);
      case "map":
        return this.#map(expr);
      case "loop":
        return planLoop(expr, this);
      case "optionalMap":
        return this.#optionalMap(expr);
      case "struct":
        return this.#map(expr);
    }
  }

  constant(value: Value): Step {
    const step: Step = () => value;
    this.#constants.set(step, value);
    return step;
  }

  /** Gives names new slots while `run` plans what they are visible to. */
  within<T>(names: readonly string[], run: (slots: readonly number[]) => T): T {
    const outer = names.map((name) => this.#slotOf.get(name));
    const own = names.map(() => this.slots++);
    for (const [index, name] of names.entries()) this.#slotOf.set(name, own[index] ?? 0);
    const result = run(own);
    for (const [index, name] of names.entries()) {
      const slot = outer[index];
      if (slot === undefined) this.#slotOf.delete(name);
      else this.#slotOf.set(name, slot);
    }
    return result;
  }

  #identifier(name: string): Step | undefined {
    const type = this.#slotOf.has(name) ? undefined : typeConstants.get(name);
    return type === undefined ? this.#variable(name) : this.constant(CelTypeValue.of(type));
  }

  #variable(name: string): Step | undefined {
    const slot = this.#slotOf.get(name);
    if (slot === undefined) return undefined;
    return (frame) => {
      frame.spend(1);
      return frame.variables[slot] ?? null;
    };
  }

  #select(expr: Expr & { kind: "select" }): Step {
    const { field, isOptional } = expr;
    const type = isOptional ? undefined : typeConstants.get(dotted(expr) ?? "");
    if (type !== undefined) return this.constant(CelTypeValue.of(type));
    const variable = isOptional ? undefined : this.#variable(dotted(expr) ?? "");
    if (variable !== undefined) return variable;
    const operand = this.plan(expr.operand);
    const cost = isAttribute(expr.operand) ? 1 : 2;
    const read = isOptional ? selectOptional : selectField;
    return (frame) => {
      const value = operand(frame);
      frame.spend(cost);
      return value instanceof CelFault ? value : read(value, field);
    };
  }

  #presence(operandExpr: Expr, field: string): Step {
    const operand = this.plan(operandExpr);
    return (frame) => {
      const value = operand(frame);
      return value instanceof CelFault ? value : isPresent(value, field);
    };
  }

  #call(call: Call): Step {
    switch (call.name) {
      case "_&&_":
        return this.#logic(call, false);
      case "_||_":
        return this.#logic(call, true);
      case "_?_:_":
        return this.#conditional(call);
      case "_==_":
        return this.#equality(call, true);
      case "_!=_":
        return this.#equality(call, false);
      case "_[_]":
        return this.#access(call, access);
      case "_[?_]":
        return this.#access(call, accessOptional);
      case "@in":
        return this.#in(call);
      case "or":
      case "orValue":
        return this.#alternative(call);
      default:
        return this.#function(call);
    }
  }

  #args({ args }: Call): readonly [Step, Step] {
    const [first, second] = args.map((arg) => this.plan(arg));
    const missing = this.constant(noOverload);
    return [first ?? missing, second ?? missing];
  }

  /** `decisive` ends the question alone; an error counts only when the other side does not decide. */
  #logic(call: Call, decisive: boolean): Step {
    const [left, right] = this.#args(call);
    return (frame) => {
      const a = left(frame);
      if (a === decisive) return a;
      const b = right(frame);
      if (b === decisive) return b;
      if (a instanceof CelFault) return a;
      if (b instanceof CelFault) return b;
      return typeof a === "boolean" && typeof b === "boolean" ? b : noOverload;
    };
  }

  #conditional(call: Call): Step {
    const missing = this.constant(noOverload);
    // Each part is planned once: twice would be 2ⁿ times for a chain of n conditionals.
    const [condition = missing, yes = missing, no = missing] = call.args.map((arg) => this.plan(arg));
    return (frame) => {
      const value = condition(frame);
      if (value === true) return yes(frame);
      if (value === false) return no(frame);
      return value instanceof CelFault ? value : noOverload;
    };
  }

  #equality(call: Call, wanted: boolean): Step {
    const [left, right] = this.#args(call);
    return (frame) => {
      const a = left(frame);
      const b = right(frame);
      if (a instanceof CelFault) return a;
      if (b instanceof CelFault) return b;
      const cost = equalityCost(a, b);
      if (isTooMuch([a, b])) throw new CostExceeded();
      frame.spend(cost + comparedCost(cost, a, b));
      if (a instanceof CelOpaque && !a.isComparable) return noOverload;
      return equals(a, b) === wanted;
    };
  }

  #access(call: Call, read: (value: Value, index: Value) => Value): Step {
    const [operand, index] = this.#args(call);
    const cost = call.args[0] !== undefined && isAttribute(call.args[0]) ? 1 : 2;
    return (frame) => {
      const value = operand(frame);
      const at = index(frame);
      frame.spend(cost);
      if (value instanceof CelFault) return value;
      return at instanceof CelFault ? at : read(value, at);
    };
  }

  #in(call: Call): Step {
    const [item, range] = this.#args(call);
    const constant = this.#constants.get(range);
    if (constant instanceof PlainList && constant.items.every(isKey)) {
      // cel-go looks constants up in a set too, at no cost.
      const keys = new Set(constant.items.map(keyText));
      return (frame) => {
        const value = item(frame);
        return value instanceof CelFault ? value : keys.has(keyText(value));
      };
    }
    return (frame) => {
      const value = item(frame);
      const list = range(frame);
      if (value instanceof CelFault) return value;
      if (list instanceof CelFault) return list;
      if (isTooMuch([value, list])) throw new CostExceeded();
      frame.spend(kindOf(list) === "list" ? sizeOf(list) : 1);
      return isMember(value, list);
    };
  }

  #alternative(call: Call): Step {
    const [second] = this.#args(call);
    const first = call.target === undefined ? second : this.plan(call.target);
    const isOptional = call.name === "or";
    return (frame) => {
      const value = first(frame);
      if (value instanceof CelFault) return value;
      if (!(value instanceof CelOptional)) return noOverload;
      if (value.value === undefined) return second(frame);
      return isOptional ? value : value.value;
    };
  }

  #function(call: Call): Step {
    const resolved = this.#checked.calls.get(call);
    if (resolved === undefined) return this.constant(noOverload);
    const { overloads, isQualified } = resolved;
    const exprs = call.target === undefined || isQualified ? call.args : [call.target, ...call.args];
    const steps = exprs.map((arg) => this.plan(arg));
    const step = callStep(steps, overloads);
    if (!foldable.has(call.name) || !steps.every((each) => this.#constants.has(each))) return step;
    const args = steps.map((each) => this.#constants.get(each) ?? null);
    const overload = overloads.find((each) => takes(each, args));
    return overload === undefined ? step : this.constant(overload.run(args));
  }

  #list({ elements }: ListLiteral): Step {
    const steps = elements.map(({ value, isOptional }) => ({ step: this.plan(value), isOptional }));
    if (steps.every(({ step, isOptional }) => !isOptional && this.#constants.has(step)))
      return this.constant(new PlainList(steps.map(({ step }) => this.#constants.get(step) ?? null)));
    return (frame) => {
      const items: Value[] = [];
      for (const { step, isOptional } of steps) {
        const value = step(frame);
        if (value instanceof CelFault) return value;
        if (!isOptional) items.push(value);
        else if (!(value instanceof CelOptional)) return noOverload;
        else if (value.value !== undefined) items.push(value.value);
      }
      frame.spend(10);
      return new PlainList(items);
    };
  }

  #map({ entries }: Pick<MapLiteral, "entries">): Step {
    const steps = entries.map(({ key, value, isOptional }) => [this.plan(key), this.plan(value), isOptional] as const);
    return (frame) => {
      const found: (readonly [Value, Value])[] = [];
      const seen = new Set<string>();
      for (const [keyStep, valueStep, isOptional] of steps) {
        const key = keyStep(frame);
        const value = valueStep(frame);
        if (key instanceof CelFault) return key;
        if (value instanceof CelFault) return value;
        if (!isKey(key)) return new CelFault(`unsupported key type: ${kindOf(key)}`);
        if (isOptional && !(value instanceof CelOptional)) return noOverload;
        const inner = isOptional && value instanceof CelOptional ? value.value : value;
        if (inner === undefined) continue;
        if (seen.has(keyText(key))) return new CelFault(`Failed with repeated key: ${keyName(key)}`);
        seen.add(keyText(key));
        found.push([key, inner]);
      }
      frame.spend(30);
      return new PlainMap(found);
    };
  }

  #optionalMap({ operand, variable, transform, isFlat }: OptionalMap): Step {
    const first = this.plan(operand);
    return this.within([variable], ([slot = 0]) => {
      const second = this.plan(transform);
      return (frame) => {
        const value = first(frame);
        if (value instanceof CelFault) return value;
        if (!(value instanceof CelOptional)) return noOverload;
        if (value.value === undefined) return value;
        frame.variables[slot] = value.value;
        const result = second(frame);
        return isFlat || result instanceof CelFault ? result : new CelOptional(result);
      };
    });
  }
}

function literalValue({ type, value }: Literal): Value {
  return type === "uint" && typeof value === "bigint" ? new CelUint(value) : value;
}

function callStep(steps: readonly Step[], overloads: readonly Overload[]): Step {
  return (frame) => {
    const args: Value[] = [];
    for (const step of steps) {
      const value = step(frame);
      if (value instanceof CelFault) return value;
      args.push(value);
    }
    return callFirst(overloads, frame, args);
  };
}

/** Calls the first overload that takes these values. */
function callFirst(overloads: readonly Overload[], frame: Frame, args: readonly Value[]): Value {
  const overload = overloads.find((each) => takes(each, args));
  if (overload === undefined) return noOverload;
  if (isTooMuch(args)) throw new CostExceeded();
  const result = overload.run(args);
  const cost = overload.cost(args, result);
  frame.spend(cost + hiddenCost(cost, args, result));
  return result;
}

function takes({ kinds }: Overload, args: readonly Value[]): boolean {
  if (kinds.length !== args.length) return false;
  return args.every((arg, index) => kinds[index] === "dyn" || kinds[index] === kindOf(arg));
}

function isKey(value: Value): boolean {
  return ["string", "int", "uint", "bool", "double"].includes(kindOf(value));
}

/** What cel-go reads as one chain of names and indexes. */
function isAttribute(expr: Expr): boolean {
  if (expr.kind === "ident" || expr.kind === "select") return true;
  return expr.kind === "call" && (expr.name === "_[_]" || expr.name === "_[?_]");
}

function dotted(expr: Expr): string | undefined {
  if (expr.kind === "ident") return expr.name;
  if (expr.kind !== "select") return undefined;
  const operand = dotted(expr.operand);
  return operand === undefined ? undefined : `${operand}.${expr.field}`;
}
