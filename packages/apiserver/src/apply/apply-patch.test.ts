import { readFileSync } from "node:fs";
import { deepFreeze, type ManagedFieldsEntry, type UnstructuredObject } from "@setpoint/apimachinery";
import type { StructuralSchema } from "@setpoint/schema";
import fc from "fast-check";
import { expect, test } from "vitest";
import { applyPatch } from "./apply-patch.ts";
import { updateManagersMax } from "./managed-entries.ts";
import { trackUpdate } from "./track-update.ts";

const schema = JSON.parse(
  readFileSync(new URL("fixtures/widget.schema.json", import.meta.url), "utf8"),
) as StructuralSchema;
const common = { schema, apiVersion: "example.com/v1", subresource: "", manager: "a" };

function widget(spec: unknown, managedFields?: readonly ManagedFieldsEntry[]): UnstructuredObject {
  const metadata = { name: "w", ...(managedFields === undefined ? {} : { managedFields }) };
  return { apiVersion: "example.com/v1", kind: "Widget", metadata, spec };
}

function applied(
  live: UnstructuredObject | undefined,
  spec: unknown,
  manager: string,
  time: string,
): UnstructuredObject {
  const options = { ...common, live, patch: deepFreeze(widget(spec)), manager, force: true, time };
  const { object, managedFields } = applyPatch(options);
  return deepFreeze({ ...object, metadata: { ...object.metadata, managedFields } });
}

const word = fc.constantFrom("p", "q", "r");
const configuration = fc.record(
  {
    plain: fc.array(word, { maxLength: 2 }),
    tags: fc.uniqueArray(word, { minLength: 1, maxLength: 3 }),
    parts: fc.uniqueArray(fc.record({ id: word, n: fc.integer({ min: 0, max: 2 }) }), {
      selector: ({ id }) => id,
      minLength: 1,
      maxLength: 3,
    }),
    labels: fc.dictionary(word, word, { maxKeys: 3 }),
    free: fc.dictionary(word, fc.oneof(word, fc.dictionary(word, fc.integer())), { maxKeys: 2 }),
  },
  { requiredKeys: [] },
);

test("applying the same configuration twice changes nothing the second time", () => {
  fc.assert(
    fc.property(configuration, configuration, (mine, theirs) => {
      const live = applied(applied(undefined, theirs, "b", "t1"), mine, "a", "t2");
      const again = applyPatch({ ...common, live, patch: widget(mine), force: false, time: "t3" });
      expect(again.changed).toBe(false);
      expect(again.managedFields).toEqual(live.metadata.managedFields);
    }),
  );
});

test("what a manager applied is in the object, and goes when it alone applied it", () => {
  fc.assert(
    fc.property(configuration, (mine) => {
      const base = applied(undefined, { port: 1 }, "b", "t1");
      const live = applied(applied(base, mine, "a", "t2"), {}, "a", "t3");
      expect(Object.keys(live["spec"] as object)).toEqual(["port"]);
      // Who applies an empty spec owns the empty spec.
      const own = live.metadata.managedFields?.find(({ manager }) => manager === "a");
      expect(own?.fieldsV1).toEqual({ "f:spec": {} });
    }),
  );
});

test("an apply changes neither the live object nor the patch, and takes no part of the patch", () => {
  const one = { a: "x" };
  const [p, q] = [
    { id: "p", kind: "k", n: 1 },
    { id: "q", kind: "k", n: 1 },
  ];
  const live = deepFreeze(applied(undefined, { labels: { p: "p" }, free: { p: { q: 1 } }, parts: [p, q] }, "a", "t1"));
  const spec = { labels: { p: "p" }, free: { p: { q: 1 } }, parts: [p, { ...q, n: 2 }], plain: ["p"], one };
  const { object } = applyPatch({ ...common, live, patch: widget(spec), force: false, time: "t2" });
  expect(object["spec"]).toEqual(spec);
  const after = object["spec"] as Record<string, unknown>;
  expect(after["plain"]).not.toBe(spec.plain);
  expect(after["one"]).not.toBe(one);
  expect(Object.isFrozen(object.metadata)).toBe(false);
});

test("an update that changes nothing leaves the stored managedFields as they are", () => {
  const managedFields = trackUpdate({ ...common, live: undefined, object: widget({ port: 1 }), time: "t1" });
  const live = deepFreeze(widget({ port: 1 }, managedFields));
  const object = widget({ port: 1 }, structuredClone(managedFields) as readonly ManagedFieldsEntry[]);
  expect(trackUpdate({ ...common, live, object: { ...object, metadata: { name: "w" } }, time: "t2" })).toEqual(
    live.metadata.managedFields,
  );
});

test("the oldest managers by update are merged when there are too many", () => {
  let live = widget({}, trackUpdate({ ...common, live: undefined, object: widget({ plain: ["x"] }), time: "t00" }));
  for (let index = 0; index < 14; index++) {
    const labels = { ...(live["spec"] as { labels?: object }).labels, [`l${index}`]: "x" };
    const object = widget({ plain: ["x"], labels }, live.metadata.managedFields);
    const time = `t${String(index + 1).padStart(2, "0")}`;
    live = widget(object["spec"], trackUpdate({ ...common, manager: `m${index}`, live, object, time }));
  }
  const managers = live.metadata.managedFields?.map(({ manager }) => manager);
  expect(managers).toHaveLength(updateManagersMax);
  expect(managers?.[0]).toBe("ancient-changes");
  expect(managers?.at(-1)).toBe("m13");
});

test("an object whose lists cannot be keyed loses its tracking instead of failing the update", () => {
  const object = widget({ parts: [{ n: 1 }] });
  const item: StructuralSchema = { type: "object", properties: { id: { type: "string" }, n: { type: "integer" } } };
  const parts: StructuralSchema = {
    type: "array",
    items: item,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["id"],
  };
  const strict: StructuralSchema = { type: "object", properties: { spec: { type: "object", properties: { parts } } } };
  expect(trackUpdate({ ...common, schema: strict, live: undefined, object, time: "t" })).toEqual([]);
});
