/** The manifests of docs/backups.md are accepted as they are written. */
import { readFileSync } from "node:fs";
import { Backup, BackupPlan, BackupStore, Restore, RestoreDrill } from "@setpoint/data-service";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";

const page = readFileSync(new URL("../../docs/backups.md", import.meta.url), "utf8");
const kinds = [Backup, BackupPlan, BackupStore, Restore, RestoreDrill] as const;
const manifests = [...page.matchAll(/```yaml\n([^]*?)```/g)]
  .flatMap(([, text = ""]) => [...parseAllDocuments(text)])
  .map((document) => document.toJS() as { readonly apiVersion: string; readonly kind: string })
  // The claim is of Kubernetes.
  .filter(({ apiVersion }) => apiVersion !== "v1");

test.each(manifests)("the $kind of the page is accepted", (manifest) => {
  const kind = kinds.find((each) => each.kind === manifest.kind);
  expect(kind?.parse(manifest)).toMatchObject({ kind: manifest.kind });
});

test("the page shows each kind", () => {
  expect(new Set(manifests.map(({ kind }) => kind))).toEqual(new Set(kinds.map(({ kind }) => kind)));
});

test("a Restore into a new instance names the instance that the data are of", () => {
  const [restore] = manifests.filter(({ kind }) => kind === "Restore") as readonly object[];
  const { spec, ...rest } = restore as { readonly spec: { readonly instance?: object } };
  const { instance: _, ...without } = spec;
  expect(() => Restore.parse({ ...rest, spec: without })).toThrow("spec.instance");
});
