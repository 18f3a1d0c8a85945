import { readFileSync } from "node:fs";
import type { JsonObject } from "@setpoint/apimachinery";
import type { StructuralSchema } from "@setpoint/schema";
import fc from "fast-check";
import { expect, test } from "vitest";
import { rootAtomOf } from "./atom.ts";
import { fieldSetOfAtom } from "./field-set-of.ts";
import { mergeObjects } from "./merge-objects.ts";
import { prune } from "./prune.ts";

const schema = JSON.parse(
  readFileSync(new URL("fixtures/widget.schema.json", import.meta.url), "utf8"),
) as StructuralSchema;
const atom = rootAtomOf(schema);

const word = fc.constantFrom("p", "q", "r");
const free = fc.letrec((tie) => ({
  map: fc.dictionary(word, fc.oneof(word, fc.constant([]), tie("map")), { maxKeys: 2 }),
}));
const configuration: fc.Arbitrary<JsonObject> = fc.record(
  {
    spec: fc.record(
      {
        plain: fc.array(word, { maxLength: 2 }),
        tags: fc.uniqueArray(word, { maxLength: 3 }),
        parts: fc.uniqueArray(fc.record({ id: word, n: fc.integer({ min: 0, max: 2 }) }, { requiredKeys: ["id"] }), {
          selector: ({ id }) => id,
          maxLength: 3,
        }),
        labels: fc.dictionary(word, word, { maxKeys: 3 }),
        free: free.map,
        one: fc.record({ a: word }, { requiredKeys: [] }),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

test("prune() keeps all that is applied or owned by another, and everything when nothing is gone", () => {
  fc.assert(
    fc.property(configuration, configuration, configuration, configuration, (before, now, theirs, unowned) => {
      const merged = [unowned, theirs, before, now].reduce((live, each) => mergeObjects(atom, live, each), {});
      const [last, applied, other] = [before, now, theirs].map((each) => fieldSetOfAtom(atom, each));
      if (last === undefined || applied === undefined || other === undefined) throw new Error("three sets");
      const pruned = prune(atom, merged, { last, applied, others: [other] });
      const left = fieldSetOfAtom(atom, pruned);
      const held = fieldSetOfAtom(atom, merged);
      expect(applied.intersection(held).difference(left).paths()).toEqual([]);
      expect(other.intersection(held).difference(left).paths()).toEqual([]);
      if (last.difference(applied).isEmpty) expect(pruned).toEqual(merged);
    }),
    { numRuns: 500 },
  );
});

test("prune() removes what its manager no longer applies and no other owns", () => {
  const [last, applied, other] = [{ plain: ["p"], labels: { p: "q", q: "r" } }, {}, { labels: { q: "r" } }].map(
    (spec) => fieldSetOfAtom(atom, { spec }),
  );
  if (last === undefined || applied === undefined || other === undefined) throw new Error("three sets");
  const merged = { spec: { plain: ["p"], labels: { p: "q", q: "r", r: "p" } } };
  expect(prune(atom, merged, { last, applied, others: [other] })).toEqual({ spec: { labels: { q: "r", r: "p" } } });
});
