/** `kubectl explain` says something about every field that a user of the etcd operator sets. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { etcdManifestsFile } from "./etcd-manifests.ts";

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

interface Definition {
  readonly kind: string;
  readonly spec: {
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

const documents = parseAllDocuments(readFileSync(etcdManifestsFile, "utf8"));
const definitions = documents
  .map((document) => document.toJS() as Definition)
  .filter(({ kind }) => kind === "CustomResourceDefinition");

/** The paths of all fields below a schema that have no description. */
function undescribed(schema: Schema, path: string): readonly string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const own = `${path}.${name}`;
    const below = [...undescribed(field, own), ...undescribed(field.items ?? {}, `${own}[]`)];
    return field.description === undefined ? [own, ...below] : below;
  });
}

test("there are definitions to check", () => {
  expect(definitions.length).toBeGreaterThan(5);
});

test.each(definitions.map((definition) => [definition.spec.names.kind, definition] as const))(
  "every field of the spec of %s has a description",
  (_, { spec }) => {
    const specs = spec.versions.map(({ schema }) => schema.openAPIV3Schema.properties?.["spec"] ?? {});
    expect(specs.flatMap((each) => undescribed(each, ".spec"))).toEqual([]);
  },
);
