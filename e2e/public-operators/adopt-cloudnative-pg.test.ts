/**
 * `setpoint postgres adopt` beside CloudNativePG itself: its CustomResourceDefinitions have the fields that
 * the command knows, and the samples of its documentation become manifests that a server accepts.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import tool from "../../operators/postgres/src/tool.ts";
import { missingGo, moduleSource } from "./built-with-go.ts";
import { fieldsOf } from "./crd-fields.ts";

const module = "github.com/cloudnative-pg/cloudnative-pg@v1.27.0";
/** These are no manifests of CloudNativePG. */
const others = ["cluster-expose-service.yaml", "networkpolicy-example.yaml"];

const known = new URL("../../operators/postgres/src/adopt/fixtures/fields/", import.meta.url);
/** The templates of a Pooler are Kubernetes' own, and listed by their first fields. */
const kinds = [
  ["clusters", "cluster"],
  ["backups", "backup"],
  ["scheduledbackups", "scheduled-backup"],
  ["databases", "database"],
] as const;

test.skipIf(missingGo !== "").each(kinds)("%s have the fields that adopt knows", (plural, file) => {
  const path = join(moduleSource(module), `config/crd/bases/postgresql.cnpg.io_${plural}.yaml`);
  const lines = readFileSync(new URL(`${file}.txt`, known), "utf8")
    .trim()
    .split("\n");
  expect(fieldsOf(readFileSync(path, "utf8"))).toEqual(lines);
});

test.skipIf(missingGo !== "")("each sample is adopted, and a server accepts what is written", async () => {
  const folder = join(moduleSource(module), "docs/src/samples");
  const samples = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
  const problems: string[] = [];
  for (const sample of samples) {
    let list = "";
    const output = { out: () => {}, err: (text: string) => void (list += text) };
    const code = await tool(["adopt", join(folder, sample)], output);
    if (code !== (others.includes(sample) ? 1 : 0)) problems.push(`${sample}: code ${code}: ${list}`);
    problems.push(...list.split("\n").filter((line) => /: (refused|unknown): /.test(line)));
  }
  expect(samples.length).toBeGreaterThan(60);
  expect(problems).toEqual([]);
});
