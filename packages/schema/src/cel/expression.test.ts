import { expect, test } from "vitest";
import { CelEnvironment, type CelExpression } from "./expression.ts";

function compiled(environment: CelEnvironment, source: string): CelExpression {
  const expression = environment.compile(source);
  if (typeof expression === "string") throw new Error(expression);
  return expression;
}

function environment(): CelEnvironment {
  const request = { type: "object", properties: { operation: { type: "string" } } } as const;
  return new CelEnvironment({ variables: { object: "dyn", oldObject: "dyn", request }, costMax: 10_000_000 });
}

test("an expression reads JSON of any shape", () => {
  const env = environment();
  const expression = compiled(env, "object.spec.ports.all(p, p.port > 1024) && oldObject == null");
  const values = { object: { spec: { ports: [{ port: 8080 }] } }, request: { operation: "CREATE" } };
  expect(env.evaluate(values).run(expression)).toEqual({ value: true });
});

test("a key that is not there is an error, and has() asks for it", () => {
  const env = environment();
  const evaluation = env.evaluate({ object: { spec: {} }, request: {} });
  expect(evaluation.run(compiled(env, "object.spec.size > 1"))).toEqual({ error: "no such key: size" });
  expect(evaluation.run(compiled(env, "has(object.spec.size)"))).toEqual({ value: false });
});

test("what has a schema is type-checked", () => {
  expect(environment().compile("request.verb == 'x'")).toContain("undefined field 'verb'");
  expect(environment().compile("nope")).toContain("undeclared reference to 'nope'");
});

test("named expressions see those before them and have their types", () => {
  const env = environment();
  expect(env.define("size", "object.spec.size")).toBeUndefined();
  expect(env.define("large", "variables.size > 10")).toBeUndefined();
  const evaluation = env.evaluate({ object: { spec: { size: 11 } }, request: {} });
  expect(evaluation.run(compiled(env, "variables.large ? 'large' : 'small'"))).toEqual({ value: "large" });
  expect(env.compile("variables.large + 1")).toContain("found no matching overload");
  expect(env.compile("variables.later")).toContain("undefined field 'later'");
});

test("expressions of one evaluation share one budget", () => {
  const env = new CelEnvironment({ variables: { object: "dyn" }, costMax: 100 });
  const expression = compiled(env, "object.all(x, x > 0)");
  const evaluation = env.evaluate({ object: Array.from({ length: 10 }, () => 1) });
  expect(evaluation.run(expression)).toEqual({ value: true });
  expect(evaluation.run(expression)).toEqual({ error: "validation failed due to running out of cost budget" });
});

test("expressions of mutations make objects and patches, others may not", () => {
  const env = new CelEnvironment({ variables: { object: "dyn" }, costMax: 10_000, mutates: true });
  const expression = compiled(
    env,
    "Object{metadata: Object.metadata{labels: {'a': object.x}}, ?data: optional.none()}",
  );
  expect(expression.type).toBe("Object");
  expect(env.evaluate({ object: { x: "y" } }).run(expression)).toEqual({ value: { metadata: { labels: { a: "y" } } } });
  expect(compiled(env, "[JSONPatch{op: 'add', path: '/a', value: 1}]").type).toBe("list(JSONPatch)");
  expect(environment().compile("Object{a: 1}")).toContain("undeclared reference to 'Object'");
});
