/** Finds the type of every part of an expression, and the overloads that its calls may mean. */
import {
  qualifiedName,
  type Call,
  type Expr,
  type ListLiteral,
  type Loop,
  type MapLiteral,
  type OptionalMap,
  type StructLiteral,
} from "./ast.ts";
import type { Issue } from "./issue.ts";
import { literalIssue } from "./literal-check.ts";
import { functions } from "./library/library.ts";
import type { Overload } from "./overload.ts";
import { typeConstants } from "./type-constants.ts";
import {
  boolType,
  dynType,
  errorType,
  intType,
  isLoose,
  listType,
  mapType,
  optionalType,
  typeText,
  unwrapOptional,
  type CelType,
} from "./type.ts";
import { Unification, mostGeneral } from "./unification.ts";

export interface ResolvedCall {
  readonly overloads: readonly Overload[];
  /** The target is part of the function's name: `sets.contains(…)`. */
  readonly isQualified: boolean;
}

export interface Checked {
  readonly type: CelType;
  readonly calls: ReadonlyMap<Call, ResolvedCall>;
  /** Names of variables that the expression reads. */
  readonly variables: ReadonlySet<string>;
  /** The type of each part. */
  readonly types: ReadonlyMap<Expr, CelType>;
  readonly issues: readonly Issue[];
}

/** Which names of messages an expression may make. */
export type MessageNames = (name: string) => boolean;

export function check(
  expr: Expr,
  variables: ReadonlyMap<string, CelType>,
  messages: MessageNames = () => false,
): Checked {
  const checker = new Checker(variables, messages);
  const type = checker.checkAll(expr);
  return { type, calls: checker.calls, variables: checker.used, types: checker.types(), issues: checker.issues };
}

/** Types of Kubernetes are objects without fields, those of others have none. */
function noFieldIn(type: string): string {
  return type.startsWith("kubernetes.")
    ? `unexpected failed resolution of '${type}'`
    : `type '${type}' does not support field selection`;
}

class Checker {
  readonly issues: Issue[] = [];
  readonly calls = new Map<Call, ResolvedCall>();
  readonly used = new Set<string>();
  readonly #unification = new Unification();
  readonly #types = new Map<Expr, CelType>();
  #scope: ReadonlyMap<string, CelType>;
  readonly #locals = new Set<string>();
  /** Lists of arguments for `format` may mix types, others may not. */
  #mayMix = false;

  readonly #messages: MessageNames;

  constructor(variables: ReadonlyMap<string, CelType>, messages: MessageNames) {
    this.#scope = variables;
    this.#messages = messages;
  }

  /** Parameters that stayed open are dyn. */
  checkAll(expr: Expr): CelType {
    return this.#unification.resolve(this.check(expr), true);
  }

  types(): ReadonlyMap<Expr, CelType> {
    return new Map(Array.from(this.#types, ([expr, type]) => [expr, this.#unification.resolve(type, true)]));
  }

  check(expr: Expr): CelType {
    const type = this.#unification.resolve(this.#typeOf(expr));
    this.#types.set(expr, type);
    return type;
  }

  #typeOf(expr: Expr): CelType {
    switch (expr.kind) {
      case "literal":
        return { kind: expr.type };
      case "ident":
        return this.#identifier(expr.name) ?? this.#undeclared(expr.name, expr.at);
      case "select": {
        const name = qualifiedName(expr);
        const known = name === undefined ? undefined : this.#identifier(name);
        return known ?? this.#field(expr.operand, expr.field, expr.at, expr.isOptional);
      }
      case "presence":
        this.#field(expr.operand, expr.field, expr.at, false);
        return boolType;
      case "call":
        return this.#call(expr);
      case "list":
        return this.#list(expr);
      case "map":
        return this.#map(expr);
      case "struct":
        return this.#message(expr);
      case "loop":
        return this.#loop(expr);
      case "optionalMap":
        return this.#optionalMap(expr);
    }
  }

  #report(at: number, message: string): CelType {
    this.issues.push({ at, message });
    return errorType;
  }

  #undeclared(name: string, at: number): CelType {
    return this.#report(at, `undeclared reference to '${name}' (in container '')`);
  }

  #identifier(name: string): CelType | undefined {
    const type = this.#scope.get(name);
    if (type === undefined) {
      const constant = typeConstants.get(name);
      return constant === undefined ? undefined : { kind: "type", of: constant };
    }
    if (!this.#locals.has(name)) this.used.add(name);
    return type;
  }

  #field(operand: Expr, field: string, at: number, isOptional: boolean): CelType {
    const operandType = this.check(operand);
    const inner = unwrapOptional(operandType);
    const found = this.#fieldOf(inner ?? operandType, field, at);
    return inner !== undefined || isOptional ? optionalType(found) : found;
  }

  #fieldOf(type: CelType, field: string, at: number): CelType {
    switch (type.kind) {
      case "map":
        return type.value;
      case "object":
        return type.fields.get(field) ?? this.#report(at, `undefined field '${field}'`);
      case "parameter":
        this.#unification.assign(dynType, type);
        return dynType;
      default:
        if (!isLoose(type)) this.#report(at, noFieldIn(typeText(type)));
        return dynType;
    }
  }

  #call(call: Call): CelType {
    const { name, target, args } = call;
    const prefix = target === undefined ? undefined : qualifiedName(target);
    const qualified = prefix === undefined ? undefined : functions.get(`${prefix}.${name}`);
    if (qualified !== undefined) {
      const types = args.map((arg) => this.check(arg));
      return this.#resolve(call, `${prefix}.${name}`, qualified, types, true);
    }
    const types = this.#argumentTypes(call);
    if (target !== undefined) types.unshift(this.check(target));
    const overloads = functions.get(name);
    if (overloads === undefined) return this.#undeclared(name, call.at);
    if (name === "_&&_" || name === "_||_") return this.#logic(call, overloads, types);
    return this.#resolve(call, name, overloads, types, false);
  }

  #argumentTypes({ name, target, args }: Call): CelType[] {
    const outer = this.#mayMix;
    this.#mayMix ||= name === "format" && target !== undefined;
    const types = args.map((arg) => this.check(arg));
    this.#mayMix = outer;
    return types;
  }

  #logic(call: Call, overloads: readonly Overload[], types: readonly CelType[]): CelType {
    this.calls.set(call, { overloads, isQualified: false });
    let result = boolType;
    for (const [index, type] of types.entries()) {
      if (this.#unification.assign(type, boolType)) continue;
      result = this.#mismatch(call.args[index]?.at ?? call.at, boolType, type);
    }
    return result;
  }

  #mismatch(at: number, wanted: CelType, found: CelType): CelType {
    const texts = [wanted, found].map((type) => typeText(this.#unification.resolve(type)));
    return this.#report(at, `expected type '${texts[0]}' but found '${texts[1]}'`);
  }

  #resolve(
    call: Call,
    name: string,
    overloads: readonly Overload[],
    types: readonly CelType[],
    isQualified: boolean,
  ): CelType {
    const isMember = call.target !== undefined && !isQualified;
    const fitting: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of overloads) {
      if (overload.isMember !== isMember) continue;
      const [own, ...parameters] = this.#unification.instantiate([overload.result, ...overload.parameters]);
      if (own === undefined || !this.#unification.assignAll(types, parameters)) continue;
      fitting.push(overload);
      const type = this.#unification.resolve(own);
      if (result === undefined) result = type;
      else if (result.kind !== "dyn" && typeText(type) !== typeText(result)) result = dynType;
    }
    if (result === undefined) return this.#noOverload(call, name, types, isMember);
    this.calls.set(call, { overloads: fitting, isQualified });
    const problem = literalIssue(name, call);
    if (problem !== undefined) this.issues.push(problem);
    return result;
  }

  #noOverload(call: Call, name: string, types: readonly CelType[], isMember: boolean): CelType {
    const texts = types.map((type) => typeText(this.#unification.resolve(type, true)));
    const target = isMember ? `${texts.shift() ?? ""}.` : "";
    return this.#report(
      call.at,
      `found no matching overload for '${name}' applied to '${target}(${texts.join(", ")})'`,
    );
  }

  #join(at: number, before: CelType | undefined, type: CelType): CelType {
    if (before === undefined) return type;
    if (this.#unification.assign(before, type)) return mostGeneral(before, type);
    return this.#mayMix ? dynType : this.#mismatch(at, before, type);
  }

  #list({ elements }: ListLiteral): CelType {
    let joined: CelType | undefined;
    for (const { value, isOptional } of elements)
      joined = this.#join(value.at, joined, this.#element(value, isOptional));
    return listType(joined ?? this.#unification.newParameter());
  }

  /** Accepts any type for its fields: the receiver of the message checks them. */
  #message({ name, at, entries }: StructLiteral): CelType {
    if (!this.#messages(name)) return this.#undeclared(name, at);
    for (const { value, isOptional } of entries) this.#element(value, isOptional);
    return { kind: "object", name, fields: new Map() };
  }

  #element(value: Expr, isOptional: boolean): CelType {
    const type = this.check(value);
    if (!isOptional) return type;
    const inner = unwrapOptional(type);
    if (inner === undefined && !isLoose(type)) this.#mismatch(value.at, optionalType(type), type);
    return inner ?? type;
  }

  #map({ entries }: MapLiteral): CelType {
    let [keys, values]: (CelType | undefined)[] = [];
    for (const { key, value, isOptional } of entries) {
      keys = this.#join(key.at, keys, this.check(key));
      values = this.#join(value.at, values, this.#element(value, isOptional));
    }
    return mapType(keys ?? this.#unification.newParameter(), values ?? this.#unification.newParameter());
  }

  #loop(loop: Loop): CelType {
    const { macro, range, condition, transform, at } = loop;
    const rangeType = this.check(range);
    const [first, second] = this.#loopVariables(rangeType, loop);
    const inner = new Map([[loop.variable, first]]);
    if (loop.second !== undefined) inner.set(loop.second, second);
    return this.#within(inner, () => {
      if (condition !== undefined) this.#condition(condition, macro, at, first);
      const result = transform === undefined ? dynType : this.check(transform);
      switch (macro) {
        case "all":
        case "exists":
        case "existsOne":
          return boolType;
        case "filter":
          return listType(first);
        case "map":
        case "transformList":
          return listType(result);
        case "transformMap":
          return mapType(first, result);
        case "transformMapEntry":
          if (result.kind === "map" || isLoose(result)) return result;
          return this.#report(
            at,
            `found no matching overload for 'cel.@mapInsert' applied to '(map(dyn, dyn), ${typeText(result)})'`,
          );
      }
    });
  }

  #condition(condition: Expr, macro: Loop["macro"], at: number, item: CelType): void {
    const type = this.check(condition);
    if (this.#unification.assign(type, boolType)) return;
    if (macro === "all" || macro === "exists") this.#mismatch(condition.at, boolType, type);
    else {
      const accumulated = macro === "existsOne" ? "int" : `list(${macro === "filter" ? typeText(item) : "dyn"})`;
      const text = `(${typeText(type)}, ${accumulated}, ${accumulated})`;
      this.#report(at, `found no matching overload for '_?_:_' applied to '${text}'`);
    }
  }

  /** The types of a loop's variables: [first, second]. */
  #loopVariables(range: CelType, loop: Loop): readonly [CelType, CelType] {
    switch (range.kind) {
      case "list":
        return loop.second === undefined ? [range.element, dynType] : [intType, range.element];
      case "map":
        return [range.key, range.value];
      case "dyn":
      case "error":
      case "parameter":
        this.#unification.assign(dynType, range);
        return [dynType, dynType];
      default: {
        const text = `expression of type '${typeText(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`;
        const type = this.#report(loop.range.at, text);
        return [type, type];
      }
    }
  }

  #optionalMap({ operand, variable, transform, isFlat, at }: OptionalMap): CelType {
    const operandType = this.check(operand);
    const inner = unwrapOptional(operandType) ?? (isLoose(operandType) ? dynType : undefined);
    if (inner === undefined)
      return this.#report(at, `found no matching overload for 'hasValue' applied to '${typeText(operandType)}.()'`);
    const result = this.#within(new Map([[variable, inner]]), () => this.check(transform));
    if (!isFlat) return optionalType(result);
    if (unwrapOptional(result) !== undefined || isLoose(result)) return result;
    const text = `(bool, ${typeText(result)}, optional_type(dyn))`;
    return this.#report(at, `found no matching overload for '_?_:_' applied to '${text}'`);
  }

  #within(variables: ReadonlyMap<string, CelType>, run: () => CelType): CelType {
    const outer = this.#scope;
    const added = Array.from(variables.keys()).filter((name) => !this.#locals.has(name));
    this.#scope = new Map([...outer, ...variables]);
    for (const name of added) this.#locals.add(name);
    const result = run();
    this.#scope = outer;
    for (const name of added) this.#locals.delete(name);
    return result;
  }
}
