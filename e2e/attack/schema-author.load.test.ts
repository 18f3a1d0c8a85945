/**
 * A user may create CustomResourceDefinitions and their objects. Short schemas, rules and columns could cost
 * hours.
 */
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bystander, type RawAnswer, Target } from "./target.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const headers = { "content-type": "application/json" };
const table = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
/** What one request may take on a busy machine; the attacks took minutes or for ever. */
const waitMsMax = 20_000;
let target: Target;
let bystander: Bystander;

beforeAll(async () => {
  target = await Target.start({ heapMb: 512 });
  bystander = target.bystander(20);
});
afterAll(async () => {
  await bystander[Symbol.asyncDispose]();
  await target[Symbol.asyncDispose]();
});

interface Kind {
  readonly name: string;
  readonly spec: object;
  readonly columns?: readonly object[];
}

function post(path: string, body: object): Promise<RawAnswer> {
  return target.raw({ method: "POST", path, headers, body: JSON.stringify(body), as: "admin", timeoutMs: waitMsMax });
}

/** Registers a kind and gives the path of its objects when they are served. */
async function define({ name, spec, columns = [] }: Kind): Promise<string> {
  const schema = { openAPIV3Schema: { type: "object", properties: { spec } } };
  const version = { name: "v1", served: true, storage: true, schema, additionalPrinterColumns: columns };
  const names = { plural: `${name}s`, kind: name.toUpperCase() };
  const body = {
    metadata: { name: `${name}s.attack.io` },
    spec: { group: "attack.io", scope: "Namespaced", names, versions: [version] },
  };
  const { status, body: text } = await post(definitions, body);
  expect(status, text.slice(0, 500)).toBe(201);
  const path = `/apis/attack.io/v1/namespaces/default/${name}s`;
  for (let tries = 0; tries < 200; tries++) {
    if ((await target.raw({ path, as: "admin", timeoutMs: waitMsMax })).status === 200) return path;
    await delay(25);
  }
  throw new Error(`${path} is not served`);
}

const create = (path: string, name: string, spec: object): Promise<RawAnswer> =>
  post(path, { apiVersion: "attack.io/v1", kind: name.toUpperCase(), metadata: { name: "a" }, spec });

const text = { type: "string" };
const numbers = { type: "array", maxItems: 2, items: { type: "integer" } };
const ones = `[${"1,".repeat(99)}1]`;
const big = "x".repeat(1_000_000);

interface RuleAttack {
  readonly name: string;
  readonly rule: string;
  readonly properties: object;
  readonly spec: object;
}

const rules: readonly RuleAttack[] = [
  {
    name: "doubling",
    rule: `[self.l]${".map(x, x+x)".repeat(27)}.size() > 0`,
    properties: { l: numbers },
    spec: { l: [1, 2] },
  },
  {
    name: "nesting",
    rule: `[self.l]${".map(x, [x,x])".repeat(40)} == [self.l]${".map(x, [x,x])".repeat(40)}`,
    properties: { l: numbers },
    spec: { l: [1, 2] },
  },
  {
    name: "walking",
    rule: `${ones}.all(x, ${ones}.all(y, self.s.charAt(999) != 'z'))`,
    properties: { s: text },
    spec: { s: big },
  },
  {
    name: "trimming",
    rule: "self.s.trim() != 'z'",
    properties: { s: text },
    spec: { s: `a${" ".repeat(1_000_000)}b` },
  },
  {
    name: "searching",
    rule: "self.s.indexOf(self.t) < 0 && self.s.lastIndexOf(self.t) < 0",
    properties: { s: text, t: text },
    spec: { s: "a".repeat(900_000), t: `${"a".repeat(200_000)}b${"a".repeat(200_000)}` },
  },
  {
    name: "replacing",
    rule: "self.a.replace('', self.b).size() > 0",
    properties: { a: { ...text, maxLength: 1_000_000 }, b: { ...text, maxLength: 1_000 } },
    spec: { a: "x".repeat(600_000), b: "y".repeat(900) },
  },
  {
    name: "finding",
    rule: "self.s.findAll('a*b|a').size() != 1",
    properties: { s: { ...text, maxLength: 100_000 } },
    spec: { s: "a".repeat(100_000) },
  },
  {
    name: "parsing",
    rule: "double(self.s) > 0.0 || int(self.s) > 0",
    properties: { s: text },
    spec: { s: `${"1".repeat(1_000_000)}x` },
  },
];

test.each(rules)("a rule that is $name without end is cut", async ({ name, rule, properties, spec }) => {
  const path = await define({ name, spec: { type: "object", properties, "x-kubernetes-validations": [{ rule }] } });
  const { status } = await create(path, name, spec);
  expect([201, 422]).toContain(status);
});

test.each(["duration", "uri", "email", "ipv6", "byte"])(
  "a text of the format %s takes time with its length, not with the square of it",
  async (format) => {
    const name = `f${format.replace("-", "")}`;
    const path = await define({ name, spec: { type: "object", properties: { s: { ...text, format } } } });
    for (const part of ["1", "1.", "1:", "a", " ", "1h", "@a"]) {
      const { status } = await create(path, name, { s: `${part.repeat(300_000 / part.length)}!` });
      expect([201, 409, 422]).toContain(status);
    }
  },
);

test.each(["(.{1,900}a?){1}b$", "[^x]*a.{800}$"])("the pattern %s refuses a megabyte", async (pattern) => {
  const name = `p${pattern.length}`;
  const path = await define({ name, spec: { type: "object", properties: { s: { ...text, pattern } } } });
  expect((await create(path, name, { s: "axba".repeat(250_000) })).status).toBe(422);
});

test("a large default of the items of a list fills no memory", async () => {
  const large = { type: "array", items: { type: "string" }, default: Array.from({ length: 5_000 }, () => "x") };
  const items = { type: "object", properties: { large } };
  const spec = { type: "object", properties: { l: { type: "array", items } } };
  const path = await define({ name: "filled", spec });
  const { status } = await create(path, "filled", { l: Array.from({ length: 50_000 }, () => ({})) });
  expect(status).toBe(413);
});

test("a column may show a large field, thousands of them show nothing", async () => {
  const columns = Array.from({ length: 2_000 }, (_, i) => ({ name: `c${i}`, type: "string", jsonPath: ".spec" }));
  const path = await define({ name: "wide", spec: { type: "object", properties: { s: text } }, columns });
  expect((await create(path, "wide", { s: big })).status).toBe(201);
  const { status } = await target.raw({ path, headers: table, as: "admin", timeoutMs: waitMsMax });
  expect(status).toBe(413);
});

test("a column's path is read in time, however it is written", async () => {
  const paths = [`.a[?(@.a${" ".repeat(1_000_000)}x)]`, `.a[?(@.b${" ".repeat(4_000)}x)]`, "[?(@".repeat(300_000)];
  const columns = paths.map((jsonPath, i) => ({ name: `c${i}`, type: "string", jsonPath }));
  const schema = { openAPIV3Schema: { type: "object" } };
  const names = { plural: "longs", kind: "Long" };
  const version = { name: "v1", served: true, storage: true, schema, additionalPrinterColumns: columns };
  const spec = { group: "attack.io", scope: "Namespaced", names, versions: [version] };
  const { status } = await post(definitions, { metadata: { name: "longs.attack.io" }, spec });
  expect(status).toBeLessThan(500);
});

test("another client was served all the while", () => {
  expect(target.isRunning).toBe(true);
  expect(bystander.failures).toEqual([]);
  expect(bystander.worstMs).toBeLessThan(5_000);
});
