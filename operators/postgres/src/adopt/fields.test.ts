/**
 * Every field of the kinds of CloudNativePG 1.27, from the lists in `fixtures/fields`: each is set in a
 * manifest of its own, and must change what is written or be named in a difference.
 */
import { isDeepStrictEqual } from "node:util";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { adopt, type Adopted, type AdoptOptions } from "./adopt.ts";
import { clusterTable, importingTable } from "./cluster-table.ts";
import { type FieldTable, treatmentOf } from "./field-table.ts";
import { isObject } from "./fields.ts";
import { backupTable, databaseTable, poolerTable, scheduledBackupTable } from "./other-tables.ts";

interface Leaf {
  /** Such as `tablespaces[].name` and `postgresql.parameters{}`. */
  readonly path: string;
  readonly type: string;
  readonly values: readonly string[];
}

function leavesOf(file: string): readonly Leaf[] {
  const text = readFileSync(new URL(`fixtures/fields/${file}.txt`, import.meta.url), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => {
      const [path = "", type = "", values = ""] = line.split(" ");
      return { path, type, values: values.split(",").filter(Boolean) };
    });
}

/** What a manifest of the kind has besides the field. */
const bases: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  Cluster: { instances: 3, storage: { size: "1Gi" } },
  Backup: { cluster: { name: "orders" } },
  ScheduledBackup: { cluster: { name: "orders" }, schedule: "0 0 0 * * *" },
  Pooler: { cluster: { name: "orders" }, pgbouncer: {} },
  Database: { cluster: { name: "orders" }, name: "stock", owner: "shop" },
};

/** What an item or an object needs besides the field. */
const needed: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "Cluster managed.roles[]": { name: "dante", login: true },
  "Cluster managed.services.additional[]": { selectorType: "rw", serviceTemplate: { metadata: { name: "extra" } } },
  "Cluster backup.barmanObjectStore": { destinationPath: "s3://vault/pg" },
  "Cluster bootstrap.initdb.import": {
    type: "monolith",
    databases: ["*"],
    roles: ["*"],
    source: { externalCluster: "other" },
  },
  "Cluster externalClusters[]": { name: "another" },
  "Cluster backup.barmanObjectStore.s3Credentials.secretAccessKey": { name: "keys", key: "secret" },
  "Cluster backup.barmanObjectStore.s3Credentials.region": { name: "keys", key: "region" },
  "Cluster imageCatalogRef": { name: "images" },
  "Cluster postgresql.synchronous": { number: 1 },
  "Database schemas[]": { name: "sales" },
  "Database extensions[]": { name: "pg_trgm" },
  "Pooler template.spec.containers[]": { name: "pgbouncer" },
};

/** Values of a form of their own. */
const examples: Readonly<Record<string, unknown>> = {
  "bootstrap.initdb.database": "shop",
  "backup.barmanObjectStore.destinationPath": "gs://other/path",
  "backup.barmanObjectStore.endpointURL": "https://s3.example.com",
  "backup.retentionPolicy": "30d",
  imageName: "ghcr.io/cloudnative-pg/postgresql:15.7",
  "postgresql.pg_hba[]": "hostssl all all 10.0.0.0/8 scram-sha-256",
  "managed.roles[].validUntil": "2053-04-12T15:04:05Z",
  "managed.roles[].inRoles[]": "pg_monitor",
  maxSyncReplicas: 2,
  "postgresql.synchronous.number": 2,
  schedule: "0 30 4 * * *",
  "storage.size": "2Gi",
  "walStorage.size": "2Gi",
  "pgbouncer.parameters{}": { max_client_conn: "300" },
  "postgresql.parameters{}": { work_mem: "8MB" },
};

/** A backup's retention is part of the BackupPlan, and so is the image of a catalogue with one. */
const beside: Readonly<Record<string, unknown>> = {
  "backup.retentionPolicy": {
    apiVersion: "postgresql.cnpg.io/v1",
    kind: "ScheduledBackup",
    metadata: { name: "daily" },
    spec: bases["ScheduledBackup"],
  },
};

function examplesOf({ path, type, values }: Leaf): readonly unknown[] {
  const example = examples[path];
  if (example !== undefined) return [example];
  if (values.length > 0) return values;
  if (type === "boolean") return [true, false];
  if (type === "integer") return [4];
  return [type === "quantity" ? "3Gi" : type === "any" ? { example: "x" } : "example"];
}

/** The spec with the value at the path; without one, with all that stands beside it. */
function specWith(kind: string, leaf: Leaf, value?: unknown): unknown {
  const parts = leaf.path.replaceAll("[]", ".[]").replaceAll("{}", ".{}").split(".");
  return put(bases[kind], parts, "");

  function put(into: unknown, [part, ...rest]: readonly string[], path: string): unknown {
    if (part === undefined) return value ?? into;
    if (part === "[]" && rest.length === 0 && value === undefined) return [];
    if (part === "[]") return [put(needed[`${kind} ${path}[]`], rest, `${path}[]`)];
    if (part === "{}" && value === undefined) return {};
    if (part === "{}") return isObject(value) ? value : { [keyOf(leaf.path)]: value };
    const here = path === "" ? part : `${path}.${part}`;
    const given = isObject(into) ? into : {};
    return { ...given, [part]: put(given[part] ?? needed[`${kind} ${here}`], rest, here) };
  }
}

function keyOf(path: string): string {
  return path.includes("equests") || path.includes("imits") ? "storage" : "example";
}

function adopted(kind: string, path: string, spec: unknown, options: AdoptOptions): Adopted {
  const object = { apiVersion: "postgresql.cnpg.io/v1", kind, metadata: { name: "orders" }, spec };
  const other = beside[path];
  return adopt(other === undefined ? [object] : [object, other], options);
}

/** What a field with this value does that is not there without it. */
function effectOf(kind: string, leaf: Leaf, value: unknown, options: AdoptOptions): "named" | "carried" | "silent" {
  const given = adopted(kind, leaf.path, specWith(kind, leaf, value), options);
  const base = adopted(kind, leaf.path, specWith(kind, leaf), options);
  const before = base.differences.map((each) => JSON.stringify(each));
  const own = given.differences.filter(({ path }) => path !== "" && isAbove(path, leaf.path));
  if (own.some((each) => each.outcome !== "unknown" && !before.includes(JSON.stringify(each)))) return "named";
  // An object that has no place is named without its fields, also when it is empty.
  if (own.some(({ path, outcome }) => outcome !== "unknown" && path.length < `spec.${leaf.path}`.length))
    return "named";
  return isDeepStrictEqual(given, base) ? "silent" : "carried";
}

/** Whether a difference at `path` is about the leaf. */
function isAbove(path: string, leaf: string): boolean {
  return `spec.${leaf}`
    .replaceAll("[]", "[0]")
    .replaceAll("{}", `.${keyOf(leaf)}`)
    .startsWith(path);
}

const tables: readonly (readonly [kind: string, file: string, table: FieldTable, options: AdoptOptions])[] = [
  ["Cluster", "cluster", clusterTable, {}],
  ["Cluster", "cluster", importingTable, { isImporting: true, namespace: "new" }],
  ["Backup", "backup", backupTable, {}],
  ["ScheduledBackup", "scheduled-backup", scheduledBackupTable, {}],
  ["Pooler", "pooler", poolerTable, {}],
  ["Database", "database", databaseTable, {}],
];

/** The nearest part of the path that the table has. */
function treatmentAbove(table: FieldTable, path: string): FieldTable[string] | undefined {
  const plain = path.replaceAll("{}", "");
  const ends = [...plain.matchAll(/\.|\[\]/g)].flatMap(({ 0: text, index }) => [
    index,
    ...(text === "[]" ? [index + 2] : []),
  ]);
  const above = [...ends, plain.length].map((end) => plain.slice(0, end));
  const own = above.find((each) => table[each] !== undefined);
  return own === undefined ? above.map((each) => treatmentOf(table, each)).find(Boolean) : table[own];
}

test.each(tables)("each field of a %s is carried over, or has a reason", (_, file, table) => {
  const without = leavesOf(file).filter(({ path }) => treatmentAbove(table, path) === undefined);
  expect(without.map(({ path }) => path)).toEqual([]);
});

test.each(tables)("no field of a %s is left out in silence", (kind, file, table, options) => {
  const silent = leavesOf(file).flatMap((leaf) => {
    const treatment = treatmentAbove(table, leaf.path);
    const effects = examplesOf(leaf).map((value) => ({ value, effect: effectOf(kind, leaf, value, options) }));
    if (treatment === "carried")
      return effects.every(({ effect }) => effect === "silent") ? [`${leaf.path} changes nothing`] : [];
    const same: readonly unknown[] = treatment?.same ?? [];
    return effects
      .filter(({ value, effect }) => effect !== "named" && !same.some((each) => isSame(each, value)))
      .map(({ value }) => `${leaf.path}: ${JSON.stringify(value)} is not named`);
  });
  expect(silent).toEqual([]);
});

/** `same` of a list or an object has its only field. */
function isSame(same: unknown, value: unknown): boolean {
  if (Array.isArray(same)) return same.includes(value);
  return isObject(same) ? Object.values(same).includes(value) : same === value;
}

test.each(tables)("an unknown field of a %s is named, wherever it stands", (kind, file, _, options) => {
  const objects = new Set(leavesOf(file).flatMap(({ path }) => objectsAbove(path)));
  const silent = [...objects].filter((path) => {
    const leaf = { path: `${path}unknown`, type: "string", values: [] };
    const given = adopted(kind, path, specWith(kind, leaf, "example"), options);
    const named = given.differences.some((each) => each.path !== "" && isAbove(each.path, leaf.path));
    return !named && isDeepStrictEqual(given.objects, adopted(kind, path, specWith(kind, leaf), options).objects);
  });
  expect(silent).toEqual([]);
});

/** `a.`, `a.b[].` of `a.b[].c`; maps have any fields. */
function objectsAbove(path: string): readonly string[] {
  const parts = path.split(".").slice(0, -1);
  return ["", ...parts.map((_, at) => `${parts.slice(0, at + 1).join(".")}.`)];
}

test.each(tables)("the table of a %s has no field that CloudNativePG has not", (_, file, table) => {
  const plain = leavesOf(file).map(({ path }) => path.replaceAll("{}", ""));
  const extra = Object.keys(table).filter((key) => {
    const prefix = key.replace(/\.\*$/, "");
    return !plain.some(
      (path) =>
        path === prefix ||
        prefix === `${path}.storage` ||
        path.startsWith(`${prefix}.`) ||
        path.startsWith(`${prefix}[]`),
    );
  });
  expect(extra).toEqual([]);
});
