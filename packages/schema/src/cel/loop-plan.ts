/**
 * Loops: `all`, `exists`, `map` and the others. cel-go expands them into a general fold; the costs here are
 * those of its parts, so that limits hold at the same sizes.
 */
import type { Expr, Loop } from "./ast.ts";
import type { Frame, Step } from "./frame.ts";
import { CelFault, CelList, CelMap, PlainList, PlainMap, keyName, keyText, type Value } from "./value.ts";

const noOverload = new CelFault("no such overload");

/** Each body sees the variables set; it returns a value to end the loop early. */
interface Body {
  visit(frame: Frame, first: Value): Value | undefined;
  result(frame: Frame): Value;
}

type MakeBody = () => Body;

/** What plans the parts of a loop. */
export interface PartPlanner {
  plan(expr: Expr): Step;
  /** Plans with further variables; `make` gets their slots in the frame. */
  within(names: readonly string[], make: (slots: readonly number[]) => Step): Step;
}

export function planLoop(loop: Loop, planner: PartPlanner): Step {
  const range = planner.plan(loop.range);
  const names = loop.second === undefined ? [loop.variable] : [loop.variable, loop.second];
  return planner.within(names, ([firstSlot = 0, secondSlot]) => {
    const condition = loop.condition === undefined ? undefined : planner.plan(loop.condition);
    const transform = loop.transform === undefined ? undefined : planner.plan(loop.transform);
    const makeBody = bodyMaker(loop.macro, condition, transform);
    return (frame) => {
      const over = range(frame);
      if (over instanceof CelFault) return over;
      const body = makeBody();
      const pairs = pairsOf(over, secondSlot !== undefined);
      if (pairs instanceof CelFault) return pairs;
      for (const [first, second] of pairs) {
        frame.variables[firstSlot] = first;
        if (secondSlot !== undefined) frame.variables[secondSlot] = second;
        const early = body.visit(frame, first);
        if (early !== undefined) return early;
      }
      return body.result(frame);
    };
  });
}

function* listPairs(list: CelList, hasSecond: boolean): Generator<readonly [Value, Value]> {
  for (let index = 0; index < list.length; index += 1)
    yield hasSecond ? [BigInt(index), list.get(index)] : [list.get(index), null];
}

function* mapPairs(map: CelMap, hasSecond: boolean): Generator<readonly [Value, Value]> {
  for (const key of map.keys()) yield [key, hasSecond ? (map.get(key) ?? null) : null];
}

function pairsOf(over: Value, hasSecond: boolean): Iterable<readonly [Value, Value]> | CelFault {
  if (over instanceof CelList) return listPairs(over, hasSecond);
  return over instanceof CelMap ? mapPairs(over, hasSecond) : noOverload;
}

function bodyMaker(macro: Loop["macro"], condition: Step | undefined, transform: Step | undefined): MakeBody {
  const test = condition ?? ((): Value => true);
  const change = transform ?? ((): Value => noOverload);
  switch (macro) {
    case "all":
      return quantifier(test, false, 3);
    case "exists":
      return quantifier(test, true, 4);
    case "existsOne":
      return counter(test);
    case "filter":
      return collector(test, (_frame, first) => first, 13, 1);
    case "map":
    case "transformList":
      return collector(test, change, 12, condition === undefined ? 0 : 1);
    case "transformMap":
      return mapCollector(test, (frame, first) => entryOf(first, change(frame)));
    case "transformMapEntry":
      return mapCollector(test, (frame) => change(frame));
  }
}

/** `decisive` ends the loop; errors count only when nothing decides. */
function quantifier(test: Step, decisive: boolean, stepCost: number): MakeBody {
  return () => {
    let fault: CelFault | undefined;
    return {
      visit: (frame) => {
        frame.spend(stepCost);
        const value = test(frame);
        if (value === decisive) {
          frame.spend(stepCost);
          return value;
        }
        if (typeof value !== "boolean") fault ??= value instanceof CelFault ? value : noOverload;
        return undefined;
      },
      result: (frame) => {
        frame.spend(1);
        return fault ?? !decisive;
      },
    };
  };
}

function counter(test: Step): MakeBody {
  return () => {
    let count = 0;
    return {
      visit: (frame) => {
        const value = test(frame);
        if (typeof value !== "boolean") return value instanceof CelFault ? value : noOverload;
        frame.spend(value ? 2 : 1);
        if (value) count += 1;
        return undefined;
      },
      result: (frame) => {
        frame.spend(2);
        return count === 1;
      },
    };
  };
}

type Change = (frame: Frame, first: Value) => Value;

function collector(test: Step, change: Change, keepCost: number, dropCost: number): MakeBody {
  return () => {
    const items: Value[] = [];
    return {
      visit: (frame, first) => {
        const kept = test(frame);
        if (typeof kept !== "boolean") return kept instanceof CelFault ? kept : noOverload;
        frame.spend(kept ? keepCost : dropCost);
        if (!kept) return undefined;
        const value = change(frame, first);
        if (value instanceof CelFault) return value;
        items.push(value);
        return undefined;
      },
      result: (frame) => {
        frame.spend(1);
        return new PlainList(items);
      },
    };
  };
}

function entryOf(key: Value, value: Value): Value {
  return value instanceof CelFault ? value : new PlainMap([[key, value]]);
}

function mapCollector(test: Step, change: Change): MakeBody {
  return () => {
    const entries: (readonly [Value, Value])[] = [];
    const seen = new Set<string>();
    return {
      visit: (frame, first) => {
        const kept = test(frame);
        if (typeof kept !== "boolean") return kept instanceof CelFault ? kept : noOverload;
        frame.spend(kept ? 3 : 1);
        if (!kept) return undefined;
        const map = change(frame, first);
        if (map instanceof CelFault) return map;
        if (!(map instanceof CelMap)) return noOverload;
        for (const key of map.keys()) {
          if (seen.has(keyText(key))) return new CelFault(`insert failed: key ${keyName(key)} already exists`);
          seen.add(keyText(key));
          entries.push([key, map.get(key) ?? null]);
        }
        return undefined;
      },
      result: (frame) => {
        frame.spend(1);
        return new PlainMap(entries);
      },
    };
  };
}
