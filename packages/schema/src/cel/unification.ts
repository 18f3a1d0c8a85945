/** Which types are assignable, and what follows for type parameters: cel-go's rules of assignment. */
import { isLoose, sameType, type CelType } from "./type.ts";

/** What type parameters stand for so far. */
export class Unification {
  #bindings = new Map<string, CelType>();
  #fresh = 0;

  newParameter(): CelType {
    this.#fresh += 1;
    return { kind: "parameter", name: `_var${this.#fresh - 1}` };
  }

  /** Whether all pairs fit; nothing is learned when one does not. */
  assignAll(left: readonly CelType[], right: readonly CelType[]): boolean {
    const before = this.#bindings;
    this.#bindings = new Map(before);
    if (this.#list(left, right)) return true;
    this.#bindings = before;
    return false;
  }

  assign(left: CelType, right: CelType): boolean {
    return this.assignAll([left], [right]);
  }

  /** The type with bound parameters replaced; unbound ones become dyn if `close` is set. */
  resolve(type: CelType, close = false): CelType {
    switch (type.kind) {
      case "parameter": {
        const bound = this.#bindings.get(type.name);
        if (bound !== undefined) return this.resolve(bound, close);
        return close ? { kind: "dyn" } : type;
      }
      case "list":
        return { kind: "list", element: this.resolve(type.element, close) };
      case "map":
        return { kind: "map", key: this.resolve(type.key, close), value: this.resolve(type.value, close) };
      case "opaque":
        return { ...type, parameters: type.parameters.map((each) => this.resolve(each, close)) };
      case "type":
        return type.of === undefined ? type : { kind: "type", of: this.resolve(type.of, close) };
      default:
        return type;
    }
  }

  /** A copy of a signature with parameters of its own. */
  instantiate(types: readonly CelType[]): readonly CelType[] {
    const own = new Map<string, CelType>();
    const visit = (type: CelType): CelType => {
      switch (type.kind) {
        case "parameter": {
          const known = own.get(type.name) ?? this.newParameter();
          own.set(type.name, known);
          return known;
        }
        case "list":
          return { kind: "list", element: visit(type.element) };
        case "map":
          return { kind: "map", key: visit(type.key), value: visit(type.value) };
        case "opaque":
          return { ...type, parameters: type.parameters.map(visit) };
        case "type":
          return type.of === undefined ? type : { kind: "type", of: visit(type.of) };
        default:
          return type;
      }
    };
    return types.map(visit);
  }

  #list(left: readonly CelType[], right: readonly CelType[]): boolean {
    if (left.length !== right.length) return false;
    return left.every((type, index) => {
      const other = right[index];
      return other !== undefined && this.#fits(type, other);
    });
  }

  #fits(a: CelType, b: CelType): boolean {
    if (b.kind === "parameter") {
      const answer = this.#bind(b, a);
      if (answer !== "unbound") return answer === "fits";
    }
    if (a.kind === "parameter") return this.#bind(a, b) === "fits";
    if (isLoose(a) || isLoose(b)) return true;
    if (a.kind === "null") return isNullable(b);
    if (b.kind === "null") return isNullable(a);
    switch (a.kind) {
      case "type":
        return b.kind === "type";
      case "list":
        return b.kind === "list" && this.#fits(a.element, b.element);
      case "map":
        return b.kind === "map" && this.#list([a.key, a.value], [b.key, b.value]);
      case "opaque":
        return b.kind === "opaque" && a.name === b.name && this.#list(a.parameters, b.parameters);
      default:
        return sameType(a, b);
    }
  }

  /** "unbound" says that `parameter` is free and cannot take `type` (which contains it). */
  #bind(parameter: CelType & { kind: "parameter" }, type: CelType): "fits" | "differs" | "unbound" {
    if (sameType(parameter, type)) return "fits";
    const bound = this.#bindings.get(parameter.name);
    if (bound === undefined) {
      if (this.#occurs(parameter, type)) return "unbound";
      this.#bindings.set(parameter.name, type);
      return "fits";
    }
    if (sameType(type, bound)) return "fits";
    if (!this.#fits(type, bound)) return "differs";
    const general = mostGeneral(type, bound);
    if (!this.#occurs(parameter, general)) this.#bindings.set(parameter.name, general);
    return "fits";
  }

  #occurs(parameter: CelType & { kind: "parameter" }, type: CelType): boolean {
    switch (type.kind) {
      case "parameter": {
        if (type.name === parameter.name) return true;
        const bound = this.#bindings.get(type.name);
        return bound !== undefined && this.#occurs(parameter, bound);
      }
      case "list":
        return this.#occurs(parameter, type.element);
      case "map":
        return this.#occurs(parameter, type.key) || this.#occurs(parameter, type.value);
      case "opaque":
        return type.parameters.some((each) => this.#occurs(parameter, each));
      case "type":
        return type.of !== undefined && this.#occurs(parameter, type.of);
      default:
        return false;
    }
  }
}

function isNullable(type: CelType): boolean {
  return ["null", "opaque", "object", "duration", "timestamp"].includes(type.kind);
}

export function mostGeneral(a: CelType, b: CelType): CelType {
  // What null may stand for is more than null.
  if (b.kind === "null" && a.kind !== "null") return a;
  return isLessSpecific(a, b) ? a : b;
}

function isLessSpecific(a: CelType, b: CelType): boolean {
  if (a.kind === "dyn" || a.kind === "parameter") return true;
  if (b.kind === "dyn" || b.kind === "parameter" || a.kind !== b.kind) return false;
  if (a.kind === "list" && b.kind === "list") return isLessSpecific(a.element, b.element);
  if (a.kind === "map" && b.kind === "map") return isLessSpecific(a.key, b.key) && isLessSpecific(a.value, b.value);
  if (a.kind === "type") return true;
  if (a.kind === "opaque" && b.kind === "opaque")
    return a.parameters.every((type, index) => {
      const other = b.parameters[index];
      return other !== undefined && isLessSpecific(type, other);
    });
  return sameType(a, b);
}
