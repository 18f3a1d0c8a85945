import { expect, test } from "vitest";
import { compileJsonPath } from "./jsonpath.ts";

const object = {
  spec: {
    replicas: 3,
    "a.b": "dotted",
    ports: [
      { name: "x", port: 1 },
      { name: "y", port: 2 },
    ],
  },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Old", status: "False" },
    ],
  },
};

test.each([
  [".spec.replicas", 3],
  ["{.spec.replicas}", 3],
  [".spec['a.b']", "dotted"],
  [".spec.a\\.b", "dotted"],
  [".spec.ports[1].port", 2],
  [".spec.ports[-1].name", "y"],
  [".spec.ports[*].name", "x"],
  [".spec.ports[0:1].name", "x"],
  [".spec.ports[?(@.port>1)].name", "y"],
  ['.status.conditions[?(@.type=="Ready")].status', "True"],
  [".status.conditions[?(@.type=='Old')].status", "False"],
  [".status.conditions[?(@.type=='None')].status", undefined],
  [".spec.none.deeper", undefined],
  [".spec.replicas.deeper", undefined],
])("the path %s finds its first value", (path, value) => {
  expect(compileJsonPath(path)(object)).toEqual(value);
});

test("a path that cannot be read is refused with its place", () => {
  expect(() => compileJsonPath(".spec[")).toThrow("unterminated array at 5");
});
