/** A PostgresCluster, and what stands in a Cluster of CloudNativePG and is an object of its own here. */
import { addQuantities, formatQuantity, parseQuantity } from "setpoint/kinds";
import { reservedDatabases, isReservedRole } from "../kind/inner-names.ts";
import { compareRetention } from "./adopt-backups.ts";
import { adoptImport, importedServer, importOfCluster } from "./adopt-import.ts";
import { adoptAccessRules, adoptParameters } from "./adopt-parameters.ts";
import { comparePlugins, pluginStore } from "./adopt-plugins.ts";
import { adoptRoles } from "./adopt-roles.ts";
import { adoptServices } from "./adopt-services.ts";
import { adoptStore } from "./adopt-store.ts";
import { clusterTable, importingTable } from "./cluster-table.ts";
import type { Report } from "./difference.ts";
import { compareFields } from "./field-table.ts";
import type { Fields } from "./fields.ts";
import { type InputObject, isMoved } from "./input-object.ts";
import { type Names, storeNameOf } from "./names.ts";
import {
  compareMetadata,
  hibernation,
  madeOf,
  type OutputObject,
  postgresVersion,
  unlessEmpty,
  withoutUndefined,
} from "./output-object.ts";
import { type Catalogues, serverImage } from "./server-image.ts";

const instancesMax = 9;

/** What other objects of the files say. */
export interface ClusterSurroundings {
  readonly catalogues: Catalogues;
  readonly names: Names;
  /** The names of the ObjectStores in the namespace of the Cluster. */
  readonly objectStores: ReadonlySet<string>;
  /** Whether a ScheduledBackup is about the cluster. */
  readonly isScheduled: boolean;
  /** Whether the data come from the Cluster itself. */
  readonly isImporting: boolean;
}

export function adoptCluster(
  input: InputObject,
  { catalogues, names, objectStores, isScheduled, isImporting }: ClusterSurroundings,
  report: Report,
): readonly OutputObject[] {
  const { spec } = input;
  compareMetadata(input, report);
  compareFields(isImporting ? importingTable : clusterTable, spec.value, "spec", report);
  reportSharedNames(input, report);
  reportServers(spec, isImporting, report);
  comparePlugins(spec, objectStores, report);
  compareRetention(spec.fields("backup"), isScheduled, report);
  const barman = spec.fields("backup").fields("barmanObjectStore");
  const store = spec.fields("backup").has("barmanObjectStore")
    ? adoptStore(input, barman, storeNameOf(input.name), report)
    : undefined;
  const instances = instancesOf(spec, report);
  const image = serverImage(spec, catalogues, report);
  const database = databaseOf(spec, report);
  const cluster = madeOf(
    input,
    { apiVersion: postgresVersion, kind: "PostgresCluster" },
    {
      ...{ instances, ...image },
      storage: storageOf(spec, report),
      resources: resourcesOf(spec),
      parameters: adoptParameters(spec.fields("postgresql"), report),
      accessRules: adoptAccessRules(spec.fields("postgresql"), report),
      primaryUpdate: spec.text("primaryUpdateMethod") === "switchover" ? undefined : "restart",
      synchronous: synchronousOf(spec, instances, report),
      failover: failoverOf(spec, report),
      archive: archiveOf(spec, store),
      database: unlessEmpty(database),
      bootstrap: isImporting ? importOfCluster(input, database, report) : adoptImport(spec, report),
      hibernated: hibernatedOf(input, report),
    },
  );
  const owner = database.owner ?? "app";
  return [
    ...(store === undefined ? [] : [store]),
    cluster,
    ...adoptRoles(input, { owner, version: image.version }, names, report),
    ...adoptServices(input, report),
  ];
}

/** As with CloudNativePG, the plugin takes the place of the settings. */
function archiveOf(spec: Fields, store: OutputObject | undefined): object | undefined {
  const plugin = pluginStore(spec);
  if (plugin?.isArchive === true) return { store: plugin.store };
  return store === undefined ? undefined : { store: store.metadata.name };
}

/** Both operators give their objects the same names. */
function reportSharedNames(input: InputObject, report: Report): void {
  const { name } = input;
  if (isMoved(input)) return;
  const why = `CloudNativePG's objects have the same names: pods ${name}-1 …, Services ${name}-rw …, Secret ${name}-app`;
  report.add("metadata.name", "byHand", why, "use --namespace with another one than the Cluster's");
}

const readFields = ["name", "connectionParameters", "password", "sslRootCert", "sslCert", "sslKey"];

/** An import reads one of them. */
function reportServers(spec: Fields, isImporting: boolean, report: Report): void {
  for (const server of spec.list("externalClusters"))
    if (isImporting) report.add(server.path, "unneeded", "the data come from the Cluster");
    else if (server.text("name") !== importedServer(spec))
      report.add(
        server.path,
        "dropped",
        "servers are read by an import alone, and backups of Barman by nobody",
        "move the data as docs/postgres-from-cnpg.md describes",
      );
    else
      for (const field of Object.keys(server.value).filter((each) => !readFields.includes(each)))
        report.add(server.at(field), "dropped", "an import reads a server that runs");
}

function hibernatedOf({ metadata }: InputObject, report: Report): boolean | undefined {
  const given = metadata.map("annotations")[hibernation];
  if (given === undefined || given === "off") return undefined;
  if (given !== "on") {
    report.add(`metadata.annotations[${hibernation}]`, "dropped", `"${given}" is neither on nor off`);
    return undefined;
  }
  const why = "it is spec.hibernated: true, and the new cluster has no data before it has run once";
  report.add(`metadata.annotations[${hibernation}]`, "byHand", why, "set it to false, move the data, then to true");
  return true;
}

function instancesOf(spec: Fields, report: Report): number {
  const given = spec.number("instances") ?? 1;
  if (given <= instancesMax) return given;
  const why = `a PostgresCluster has at most ${instancesMax} instances, got ${given}`;
  report.add("spec.instances", "changed", why);
  return instancesMax;
}

function storageOf(spec: Fields, report: Report): Readonly<Record<string, unknown>> {
  const storage = spec.fields("storage");
  const data = sizeOf(storage, report);
  const log = sizeOf(spec.fields("walStorage"), report);
  if (data === undefined)
    report.add("spec.storage.size", "byHand", "it is missing, and a PostgresCluster needs it", "set it");
  if (log !== undefined)
    report.add(
      spec.fields("walStorage").has("size") ? "spec.walStorage.size" : "spec.walStorage.pvcTemplate",
      "changed",
      `the log lies on the volume of the data, whose size is written as ${data ?? "nothing"} + ${log}`,
    );
  return withoutUndefined({
    size: data === undefined || log === undefined ? data : sum(data, log),
    storageClassName: storageClassOf(storage, report),
  });
}

/** As with CloudNativePG, the fields count and the template is for what they leave out. */
function sizeOf(storage: Fields, report: Report): string | undefined {
  const requests = storage.fields("pvcTemplate").fields("resources").fields("requests");
  const template = requests.quantity("storage");
  const size = storage.quantity("size");
  if (size !== undefined && template !== undefined)
    report.add(requests.at("storage"), "unneeded", `${storage.at("size")} counts`);
  return size ?? template;
}

function storageClassOf(storage: Fields, report: Report): string | undefined {
  const template = storage.fields("pvcTemplate");
  const given = storage.text("storageClass");
  const named = template.text("storageClassName");
  if (given !== undefined && named !== undefined)
    report.add(template.at("storageClassName"), "unneeded", `${storage.at("storageClass")} counts`);
  return given ?? named;
}

function sum(a: string, b: string): string {
  return formatQuantity(addQuantities(parseQuantity(a), parseQuantity(b)));
}

function resourcesOf(spec: Fields): object | undefined {
  const resources = spec.fields("resources");
  const part = (name: "requests" | "limits"): object | undefined => unlessEmpty(resources.quantities(name));
  return unlessEmpty(withoutUndefined({ requests: part("requests"), limits: part("limits") }));
}

interface Synchronous {
  readonly number: number;
  readonly durability?: string;
}

function synchronousOf(spec: Fields, instances: number, report: Report): Synchronous | undefined {
  const given = givenSynchronous(spec, report);
  if (given === undefined) return undefined;
  const max = instances - 1;
  if (given.number <= max) return given;
  const why = `${given.number} of ${instances} instances cannot be synchronous; ${max === 0 ? "none is" : `${max} is written`}`;
  report.add(synchronousPath(spec), "changed", why);
  return max === 0 ? undefined : { ...given, number: max };
}

function synchronousPath(spec: Fields): string {
  if (spec.fields("postgresql").has("synchronous")) return "spec.postgresql.synchronous.number";
  return spec.has("maxSyncReplicas") ? "spec.maxSyncReplicas" : "spec.minSyncReplicas";
}

function givenSynchronous(spec: Fields, report: Report): Synchronous | undefined {
  const synchronous = spec.fields("postgresql").fields("synchronous");
  const number = synchronous.number("number");
  const durability = synchronous.text("dataDurability");
  if (number !== undefined) return { number, ...(durability === undefined ? {} : { durability }) };
  const most = spec.number("maxSyncReplicas") ?? 0;
  const least = spec.number("minSyncReplicas") ?? 0;
  if (least > 0)
    report.add(
      "spec.minSyncReplicas",
      "changed",
      "with durability: preferred as many replicas count as there are, down to none",
      "set durability: required where commits should wait instead",
    );
  return most === 0 ? undefined : { number: most, durability: "preferred" };
}

const silenceSeconds = { min: 2, max: 3_600 };

function failoverOf(spec: Fields, report: Report): object | undefined {
  const delay = spec.number("failoverDelay") ?? 0;
  if (delay === 0) return undefined;
  const seconds = Math.min(silenceSeconds.max, Math.max(silenceSeconds.min, delay));
  const why = `failover.silenceSeconds: ${seconds} counts for a primary whose pod runs; one whose process has ended is replaced at once`;
  report.add("spec.failoverDelay", "changed", why);
  return { silenceSeconds: seconds };
}

const identifier = /^[a-z_][a-z0-9_]{0,62}$/;

interface Database {
  readonly name?: string;
  readonly owner?: string;
}

/** The names of the bootstrap; a way of it that names a database alone has an owner of the same name. */
function databaseOf(spec: Fields, report: Report): Database {
  const bootstrap = spec.fields("bootstrap");
  const way = ["initdb", "recovery", "pg_basebackup"].find((each) => bootstrap.has(each));
  if (way === undefined) return {};
  const fields = bootstrap.fields(way);
  const name = usable(fields, "database", (text) => reservedDatabases.includes(text), report);
  const owner = usable(fields, "owner", isReservedRole, report) ?? (fields.has("owner") ? undefined : name);
  return { ...(name === undefined ? {} : { name }), ...(owner === undefined ? {} : { owner }) };
}

function usable(
  fields: Fields,
  field: "database" | "owner",
  isReserved: (text: string) => boolean,
  report: Report,
): string | undefined {
  const text = fields.text(field);
  if (text === undefined || text === "") return undefined;
  if (identifier.test(text) && !isReserved(text) && !text.startsWith("pg_")) return text;
  const why = `"${text}" is no name for spec.database: expected lower case letters, digits and _, and none of PostgreSQL's; app is written`;
  const todo = field === "database" ? "add a PostgresDatabase for it" : "add a PostgresRole for it";
  report.add(fields.at(field), "changed", why, todo);
  return undefined;
}
