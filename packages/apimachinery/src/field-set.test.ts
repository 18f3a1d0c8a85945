import fc from "fast-check";
import { expect, test } from "vitest";
import { formatFieldPath, keyElement } from "./field-path.ts";
import { FieldSet } from "./field-set.ts";

const element = fc.constantFrom("f:a", "f:b", 'k:{"name":"c"}', 'v:"x"', "i:0");
const path = fc.array(element, { minLength: 1, maxLength: 4 });
const paths = fc.array(path, { maxLength: 8 });

function texts(set: FieldSet): readonly string[] {
  return set.paths().map((each) => each.join(" "));
}

test("union, difference and intersection are those of sets of paths", () => {
  fc.assert(
    fc.property(paths, paths, (left, right) => {
      const [a, b] = [FieldSet.of(...left), FieldSet.of(...right)];
      const [inA, inB] = [new Set(texts(a)), new Set(texts(b))];
      expect(new Set(texts(a.union(b)))).toEqual(inA.union(inB));
      expect(new Set(texts(a.difference(b)))).toEqual(inA.difference(inB));
      expect(new Set(texts(a.intersection(b)))).toEqual(inA.intersection(inB));
    }),
  );
});

test("a set survives the way through FieldsV1", () => {
  fc.assert(
    fc.property(paths, (list) => {
      const set = FieldSet.of(...list);
      expect(FieldSet.fromJson(JSON.parse(JSON.stringify(set.toJson())))?.equals(set)).toBe(true);
      for (const each of list) expect(set.has(each)).toBe(true);
    }),
  );
});

test("operations that change nothing return the same set", () => {
  const set = FieldSet.of(["f:a", "f:b"]);
  expect(set.difference(FieldSet.of(["f:a"]))).toBe(set);
  expect(set.union(FieldSet.empty)).toBe(set);
});

test("a recursive difference takes what lies below a member", () => {
  const set = FieldSet.of(["f:status", "f:phase"], ["f:spec"]);
  expect(texts(set.recursiveDifference(FieldSet.of(["f:status"])))).toEqual(["f:spec"]);
  expect(set.difference(FieldSet.of(["f:status"]))).toBe(set);
});

test("paths read as in the API server's conflicts", () => {
  expect(formatFieldPath(["f:spec", "f:containers", keyElement({ name: "c" }), "f:image"])).toBe(
    '.spec.containers[name="c"].image',
  );
  expect(formatFieldPath(["f:ports", keyElement({ protocol: "TCP", containerPort: 80 })])).toBe(
    '.ports[containerPort=80,protocol="TCP"]',
  );
  expect(formatFieldPath(["f:finalizers", 'v:"x"'])).toBe('.finalizers[="x"]');
  expect(formatFieldPath(["f:args", "i:0"])).toBe(".args[0]");
});

test("trees of clients are put into normal form, and what is none is refused", () => {
  expect(FieldSet.fromJson({ 'k:{ "b": 1, "a":2 }': {}, "q:x": {} })?.toJson()).toEqual({ 'k:{"a":2,"b":1}': {} });
  expect(FieldSet.fromJson({ "f:a": 1 })).toBeUndefined();
  expect(FieldSet.fromJson([])).toBeUndefined();
});

test("a set is written in the order of the API server, whatever was added last", () => {
  const tree = { "f:b": {}, 'k:{"a":1}': {}, "f:a": { "f:y": {}, ".": {}, "f:x": {} } };
  const written = JSON.stringify(FieldSet.ofTree(tree).toJson());
  expect(written).toBe('{"f:a":{".":{},"f:x":{},"f:y":{}},"f:b":{},"k:{\\"a\\":1}":{}}');
  const sorted = FieldSet.of(["f:a"], ["f:b"]).toJson();
  expect(FieldSet.ofTree(sorted).toJson()).toBe(sorted);
});
