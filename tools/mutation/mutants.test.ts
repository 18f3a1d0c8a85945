import { createContext, runInContext } from "node:vm";
import { expect, test } from "vitest";
import { instrument } from "./mutants.ts";

const changes = (source: string): readonly string[] =>
  instrument("a.ts", source, 0).mutants.map(({ change }) => change);

/** Runs a function of one number from instrumented code while a mutant is alive. */
function run(source: string, alive: number, value: number): unknown {
  const global = globalThis as { __setpointMutant?: (id: number) => boolean };
  global.__setpointMutant = (id) => id === alive;
  try {
    const context = createContext({ globalThis: global });
    return runInContext(`${instrument("a.js", source, 0).code}; f(${value});`, context);
  } finally {
    delete global.__setpointMutant;
  }
}

test("instrumented code does the same as its source while no mutant is alive", () => {
  const source = "function f(n) { if (n > 2 && n !== 5) return [1, n, 3].filter((each) => each > 1); return !n; }";
  expect(run(source, -1, 4)).toEqual([4, 3]);
  expect(run(source, -1, 5)).toBe(false);
});

test("each mutant changes one thing", () => {
  const source = "function f(n) { return n > 2; }";
  expect(changes(source)).toEqual(["body of the function → (nothing)", "n > 2 → n >= 2", "n > 2 → n <= 2"]);
  const ids = instrument("a.js", source, 0).mutants.map(({ id }) => id);
  expect(ids.map((id) => run(source, id, 2))).toEqual([undefined, true, true]);
});

test("conditions become constants, calls and statements are left out", () => {
  expect(changes("if (ready) queue.add(key);")).toEqual([
    "ready → true",
    "ready → false",
    "queue.add(key); → (nothing)",
  ]);
  expect(changes("const b = a.filter(isOld);")).toEqual(["a.filter(isOld) → a"]);
});

test("a function that does nothing has nothing to be left out", () => {
  expect(changes("const f = () => {}; class A { g() {} }")).toEqual([]);
});

test("a mutant keeps its key for as long as its file stays the same", () => {
  const keys = (source: string): readonly string[] => instrument("a.ts", source, 7).mutants.map(({ key }) => key);
  expect(keys("a(); b();")).toEqual(keys("a(); b();"));
  expect(keys("a(); b();")).not.toEqual(keys("a(); c();"));
  expect(new Set(keys("a(1 + 2 + 3 > 4);")).size).toBe(keys("a(1 + 2 + 3 > 4);").length);
});

test("types, logging and links of an optional chain are left alone", () => {
  expect(changes("const a: true | false = x as true; log.info('x'); const c = a?.filter(f).b;")).toEqual([]);
});
