/** The manifests of the PostgreSQL operator's pages are objects of its kinds, and name all settings. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PostgresDatabase, PostgresPooler, PostgresRole } from "@setpoint/postgres-operator";
import { parseAllDocuments } from "yaml";

const folder = new URL("../../operators/postgres/docs/", import.meta.url);
const kinds = { PostgresDatabase, PostgresPooler, PostgresRole };

const manifests = readdirSync(folder).flatMap((page) =>
  [...readFileSync(new URL(page, folder), "utf8").matchAll(/```yaml\n([^]*?)```/g)].flatMap(([, text = ""]) =>
    parseAllDocuments(text).map((document) => [page, document.toJS() as { readonly kind?: string }] as const),
  ),
);

test.each(manifests.filter(([, { kind }]) => kind !== undefined))(
  "%s has a manifest that its kind accepts",
  (_, manifest) => {
    const kind = kinds[manifest.kind as keyof typeof kinds];
    expect(() => kind.parse(manifest)).not.toThrow();
  },
);

test("each kind has its page", () => {
  const shown = new Set(manifests.map(([, { kind }]) => kind));
  expect(Object.keys(kinds).filter((kind) => !shown.has(kind))).toEqual([]);
});
