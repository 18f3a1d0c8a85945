import { expect, test } from "vitest";
import { objectsAt } from "./json-fields.ts";

test.each([
  [{ a: { b: [{ c: 1 }, 2, null, [], { d: 1 }] } }, [{ c: 1 }, { d: 1 }]],
  [{ a: { b: [{ c: 1 }] } }, [{ c: 1 }]],
  [{ a: { b: { c: 1 } } }, []],
  [{ a: [{ b: [{ c: 1 }] }] }, []],
  [{}, []],
  [null, []],
])("the objects at a.b of %j are %j", (parent, objects) => {
  expect(objectsAt(parent, "a", "b")).toEqual(objects);
});
