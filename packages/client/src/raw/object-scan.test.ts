import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ObjectScan } from "./object-scan.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function scanned(object: unknown, indent?: number) {
  const bytes = encoder.encode(JSON.stringify(object, undefined, indent));
  const scan = new ObjectScan();
  return { bytes, scan, isObject: scan.scan(bytes) };
}

/** The JSON without the bytes of the managed fields. */
function cut(bytes: Uint8Array, { managedFields: { start, end } }: ObjectScan): unknown {
  return JSON.parse(
    end === 0 ? decoder.decode(bytes) : decoder.decode(bytes.slice(0, start)) + decoder.decode(bytes.slice(end)),
  );
}

const metadata = fc.record(
  {
    annotations: fc.dictionary(fc.string(), fc.string()),
    labels: fc.dictionary(fc.string(), fc.string()),
    managedFields: fc.array(fc.record({ fieldsV1: fc.object(), manager: fc.string() })),
    namespace: fc.constantFrom("default", "kube-system"),
    ownerReferences: fc.array(fc.record({ uid: fc.uuid(), name: fc.string() })),
    generation: fc.nat(),
  },
  { requiredKeys: [] },
);

test("what is found of an object is what its JSON says, wherever the fields stand", () => {
  fc.assert(
    fc.property(
      metadata,
      fc.object(),
      fc.uuid(),
      fc.nat(),
      fc.boolean(),
      fc.constantFrom(undefined, 2),
      (rest, spec, uid, revision, isFirst, indent) => {
        const own = { name: "web-1", uid, resourceVersion: String(revision) };
        const object = {
          spec,
          metadata: isFirst ? { ...own, ...rest } : { ...rest, ...own },
          status: { metadata: {} },
        };
        const { bytes, scan, isObject } = scanned(object, indent);
        expect(isObject).toBe(true);
        expect(scan.key()).toBe(rest.namespace === undefined ? "web-1" : `${rest.namespace}/web-1`);
        expect([scan.uidText(), scan.resourceVersionText()]).toEqual([uid, String(revision)]);
        expect(scan.hasOwners).toBe(rest.ownerReferences !== undefined);
        const { managedFields: _, ...kept } = object.metadata;
        expect(cut(bytes, scan)).toEqual(JSON.parse(JSON.stringify({ ...object, metadata: kept })));
        const { start, end } = scan.metadata;
        expect(JSON.parse(decoder.decode(bytes.slice(start, end)))).toEqual(
          JSON.parse(JSON.stringify(object.metadata)),
        );
      },
    ),
  );
});

test.each([undefined, 2])("managed fields are cut out wherever they stand, with their comma (indent %s)", (indent) => {
  const fields = { uid: "1", managedFields: [{ a: "]," }], name: "a", resourceVersion: "1" };
  const [uid, managed, name, revision] = Object.entries(fields) as [
    [string, unknown],
    [string, unknown],
    ...[string, unknown][],
  ];
  for (const order of [
    [managed, uid, name, revision],
    [uid, managed, name, revision],
    [uid, name, revision, managed],
  ]) {
    const { bytes, scan } = scanned({ metadata: Object.fromEntries(order as [string, unknown][]) }, indent);
    expect(cut(bytes, scan)).toEqual({ metadata: { uid: "1", name: "a", resourceVersion: "1" } });
  }
});

test("names with escapes are read as what they mean", () => {
  const { scan } = scanned({ metadata: { name: 'a"b\\c', uid: "1", resourceVersion: "1" } });
  expect(scan.key()).toBe('a"b\\c');
});

test.each([
  ["no metadata", { spec: {} }],
  ["no revision", { metadata: { name: "a", uid: "1" } }],
  ["a list", []],
  ["a text", "metadata"],
])("%s is not taken for an object", (_, value) => {
  expect(scanned(value).isObject).toBe(false);
});

test("bytes that break off are not taken for an object", () => {
  const { bytes } = scanned({ metadata: { name: "a", uid: "1", resourceVersion: "1" } });
  for (let end = 0; end < bytes.length - 1; end++) expect(new ObjectScan().scan(bytes.slice(0, end))).toBe(false);
});
