/**
 * The worst-case cost of an expression, by cel-go's rules. A server rejects CRDs whose rules may cost too
 * much, so `defineKind` must report it too.
 */
import { qualifiedName, type Call, type Expr, type Loop } from "./ast.ts";
import type { Checked } from "./checker.ts";
import type { DeclaredSize } from "./declared-size.ts";
import { callEstimate, type Argument } from "./estimate-call.ts";
import { unwrapOptional, type CelType } from "./type.ts";
import { characterCount } from "./value.ts";

/** Costs end here, as upstream's integers do. */
export const costMax: number = 2 ** 64;

/** A place in the declared data; `node` is undefined where nothing is declared. */
interface Path {
  readonly node: DeclaredSize | undefined;
}

interface Local {
  readonly path: Path;
  readonly size: number | undefined;
}

/** The parts of an estimate: the cost, and of the result its size and where it is declared. */
interface Estimate {
  readonly cost: number;
  readonly size: number | undefined;
  readonly path: Path | undefined;
  /** The size of the items of a computed list, of the values of a computed map. */
  readonly element: number | undefined;
}

export function estimateCost(expr: Expr, checked: Checked, root: DeclaredSize): number {
  return Math.min(costMax, new Estimator(checked, root).estimate(expr).cost);
}

const loopCosts: Readonly<
  Record<Loop["macro"], { readonly init: number; readonly step: number; readonly end: number }>
> = {
  all: { init: 0, step: 3, end: 1 },
  exists: { init: 0, step: 4, end: 1 },
  existsOne: { init: 0, step: 2, end: 2 },
  filter: { init: 10, step: 13, end: 1 },
  map: { init: 10, step: 12, end: 1 },
  transformList: { init: 10, step: 12, end: 1 },
  transformMap: { init: 30, step: 3, end: 1 },
  transformMapEntry: { init: 30, step: 2, end: 1 },
};

class Estimator {
  readonly #checked: Checked;
  readonly #root: DeclaredSize;
  #locals: ReadonlyMap<string, Local> = new Map();

  constructor(checked: Checked, root: DeclaredSize) {
    this.#checked = checked;
    this.#root = root;
  }

  estimate(expr: Expr): Estimate {
    switch (expr.kind) {
      case "literal":
        return this.#result(
          expr,
          0,
          typeof expr.value === "string" ? characterCount(expr.value) : literalSize(expr.value),
        );
      case "ident":
        return this.#identifier(expr);
      case "select": {
        const operand = this.estimate(expr.operand);
        const type = this.#typeOf(expr.operand);
        const step = type.kind === "map" || type.kind === "object" || expr.isOptional ? 1 : 0;
        const path = this.#step(operand.path, (node) => node.fields?.get(expr.field));
        return this.#result(expr, operand.cost + step, undefined, path);
      }
      case "presence":
        return this.#result(expr, this.estimate(expr.operand).cost);
      case "call":
        return this.#call(expr);
      case "list":
        return this.#collection(
          expr,
          10,
          expr.elements.map(({ value }) => value),
          [],
        );
      case "map": {
        const [keys, values] = [expr.entries.map(({ key }) => key), expr.entries.map(({ value }) => value)];
        return this.#collection(expr, 30, values, keys);
      }
      case "loop":
        return this.#loop(expr);
      case "optionalMap": {
        const operand = this.estimate(expr.operand);
        const local = { path: { node: undefined }, size: undefined };
        const inner = this.#within(new Map([[expr.variable, local]]), () => this.estimate(expr.transform));
        return this.#result(expr, operand.cost * 2 + inner.cost + (expr.isFlat ? 12 : 13));
      }
      case "struct":
        return this.#result(expr, 40);
    }
  }

  #typeOf(expr: Expr): CelType {
    return this.#checked.types.get(expr) ?? { kind: "dyn" };
  }

  /** A known size first, then the declared one, then that of the type. */
  #result(expr: Expr, cost: number, size?: number, path?: Path, element?: number): Estimate {
    const known = size ?? path?.node?.max ?? (isScalar(this.#typeOf(expr)) ? 1 : undefined);
    return { cost, size: known, path, element };
  }

  /** Upstream starts at the root again when what came before is computed, not declared. */
  #step(path: Path | undefined, next: (node: DeclaredSize) => DeclaredSize | undefined): Path {
    if (path === undefined) return { node: this.#root };
    return { node: path.node === undefined ? undefined : next(path.node) };
  }

  #identifier(expr: Expr & { kind: "ident" }): Estimate {
    const local = this.#locals.get(expr.name);
    if (local === undefined) return this.#result(expr, 1, undefined, { node: this.#root });
    const found = this.#result(expr, 1, undefined, local.path);
    return { ...found, size: found.size ?? local.size };
  }

  #collection(expr: Expr, base: number, values: readonly Expr[], keys: readonly Expr[]): Estimate {
    const estimates = values.map((value) => this.estimate(value));
    const keyCost = keys.reduce((sum, key) => sum + this.estimate(key).cost, 0);
    const cost = estimates.reduce((sum, each) => sum + each.cost, base + keyCost);
    const element = Math.max(0, ...estimates.map(({ size }) => size ?? costMax));
    return this.#result(expr, cost, values.length, undefined, element);
  }

  #call(call: Call): Estimate {
    const { name, target, args } = call;
    const resolved = this.#checked.calls.get(call);
    const exprs = target === undefined || resolved?.isQualified === true ? args : [target, ...args];
    const estimates = exprs.map((each) => this.estimate(each));
    const costs = estimates.map(({ cost }) => cost);
    const [first, second, third] = estimates;
    if (name === "_?_:_" && first !== undefined && second !== undefined && third !== undefined) {
      const cost = first.cost + Math.max(second.cost, third.cost);
      return this.#result(call, cost, Math.max(second.size ?? costMax, third.size ?? costMax));
    }
    const argCost = costs.reduce((sum, cost) => sum + cost, 0);
    if (name === "_&&_" || name === "_||_") return this.#result(call, argCost);
    if (name === "dyn" && first !== undefined) return { ...first, cost: argCost + 1 };
    if (name === "_[_]" || name === "_[?_]") {
      const path = this.#step(first?.path, (node) => node.element);
      return this.#result(call, argCost + 1, first?.element, path);
    }
    const prefix = target !== undefined && resolved?.isQualified === true ? `${qualifiedName(target) ?? ""}.` : "";
    const qualified = prefix + name;
    const takesText = resolved?.overloads.some(({ kinds }) => kinds[0] === "string" || kinds[0] === "bytes") ?? false;
    const given = exprs.map((expr, index) => this.#argument(expr, estimates[index]));
    const found = callEstimate(qualified, given, takesText);
    const element = name === "_+_" ? Math.max(first?.element ?? costMax, second?.element ?? costMax) : undefined;
    return this.#result(call, Math.min(costMax, argCost + found.cost), found.size, undefined, element);
  }

  #argument(expr: Expr, estimate: Estimate | undefined): Argument {
    const size = estimate?.size ?? costMax;
    const isLiteral = expr.kind === "literal";
    const node = estimate?.path?.node;
    const element = estimate?.element ?? node?.element?.max ?? costMax;
    return {
      type: this.#typeOf(expr),
      size,
      sizeMin: isLiteral ? size : 0,
      element,
      literal: isLiteral ? expr.value : undefined,
    };
  }

  #loop(loop: Loop): Estimate {
    const range = this.estimate(loop.range);
    const isMap = this.#typeOf(loop.range).kind === "map";
    const value: Local = { path: this.#step(range.path, (node) => node.element), size: range.element };
    const key: Local = { path: this.#step(range.path, (node) => node.key), size: undefined };
    const first = loop.second !== undefined || isMap ? key : value;
    const locals = new Map([[loop.variable, first]]);
    if (loop.second !== undefined) locals.set(loop.second, value);
    return this.#within(locals, () => {
      const condition = loop.condition === undefined ? 0 : this.estimate(loop.condition).cost;
      const transform = loop.transform === undefined ? undefined : this.estimate(loop.transform);
      const { init, step, end } = loopCosts[loop.macro];
      const count = range.size ?? costMax;
      const each = step + condition + (transform?.cost ?? 0);
      const cost = Math.min(costMax, range.cost + init + end + count * each);
      if (init === 0) return this.#result(loop, cost, 1);
      const item = loop.macro === "filter" ? (first.path.node?.max ?? first.size) : transform?.size;
      return this.#result(loop, cost, count, undefined, item);
    });
  }

  #within(locals: ReadonlyMap<string, Local>, run: () => Estimate): Estimate {
    const outer = this.#locals;
    this.#locals = new Map([...outer, ...locals]);
    const result = run();
    this.#locals = outer;
    return result;
  }
}

function literalSize(value: unknown): number {
  return value instanceof Uint8Array ? value.length : 1;
}

function isScalar(type: CelType): boolean {
  const inner = unwrapOptional(type);
  if (inner !== undefined) return isScalar(inner);
  return ["bool", "double", "duration", "int", "timestamp", "uint"].includes(type.kind);
}
