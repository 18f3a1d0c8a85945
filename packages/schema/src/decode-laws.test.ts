import * as fc from "fast-check";
import { expect, test } from "vitest";
import { applyDefaults, decode, type StructuralSchema } from "./index.ts";

const leaf = fc.constantFrom<StructuralSchema>(
  { type: "string" },
  { type: "integer", default: 1 },
  { type: "boolean", nullable: true },
  { "x-kubernetes-int-or-string": true },
  { type: "object", "x-kubernetes-preserve-unknown-fields": true },
);
const name = fc.constantFrom("a", "b", "c", "__proto__");
const { schema } = fc.letrec<{ schema: StructuralSchema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.dictionary(name, tie("schema")).map((properties): StructuralSchema => ({ type: "object", properties })),
    tie("schema").map((items): StructuralSchema => ({ type: "array", items })),
    tie("schema").map((values): StructuralSchema => ({ type: "object", additionalProperties: values })),
  ),
}));
const json = fc.jsonValue({ maxDepth: 4 });
const named = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof({ maxDepth: 5 }, json, fc.dictionary(name, tie("value")), fc.array(tie("value"), { maxLength: 3 })),
})).value;

test("decoding what was decoded changes nothing, and neither changes the input", () => {
  fc.assert(
    fc.property(schema, named, (root, value) => {
      const holder: StructuralSchema = { type: "object", properties: { spec: root } };
      const input = { spec: value };
      const before = JSON.stringify(input);
      const first = decode(holder, input, { unknown: "report", wrongTypes: "keep" }).value;
      const second = decode(holder, first, { unknown: "report", wrongTypes: "keep" });
      expect(second.unknownFields).toEqual([]);
      expect(JSON.stringify(second.value)).toBe(JSON.stringify(first));
      expect(JSON.stringify(input)).toBe(before);
    }),
  );
});

test("defaults are complete after one pass", () => {
  fc.assert(
    fc.property(schema, named, (root, value) => {
      const holder: StructuralSchema = { type: "object", properties: { spec: root } };
      const { value: object } = decode(holder, { spec: value }, { unknown: "prune", wrongTypes: "keep" });
      applyDefaults(holder, object);
      const once = JSON.stringify(object);
      applyDefaults(holder, object);
      expect(JSON.stringify(object)).toBe(once);
    }),
  );
});
