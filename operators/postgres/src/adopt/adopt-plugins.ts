/** The plugin of Barman, whose ObjectStores become BackupStores; other plugins have no place. */
import { adoptStore } from "./adopt-store.ts";
import { compareRetention } from "./adopt-backups.ts";
import type { Report } from "./difference.ts";
import { below, compareFields, dropped, type FieldTable } from "./field-table.ts";
import type { Fields } from "./fields.ts";
import type { InputObject } from "./input-object.ts";
import { compareMetadata, type OutputObject } from "./output-object.ts";
import { storeTable } from "./store-table.ts";

const barmanPlugin = "barman-cloud.cloudnative-pg.io";

/** By path below `spec` of an ObjectStore. */
const objectStoreTable: FieldTable = {
  ...below("configuration", storeTable),
  retentionPolicy: "carried",
  instanceSidecarConfiguration: dropped("the archiver beside the server has no settings"),
};

/** `isScheduled`: a ScheduledBackup of the files goes to it. */
export function adoptObjectStore(input: InputObject, isScheduled: boolean, report: Report): readonly OutputObject[] {
  compareMetadata(input, report);
  compareFields(objectStoreTable, input.spec.value, "spec", report);
  compareRetention(input.spec, isScheduled, report);
  const store = adoptStore(input, input.spec.fields("configuration"), input.name, report);
  return store === undefined ? [] : [store];
}

export interface PluginStore {
  readonly store: string;
  readonly isArchive: boolean;
}

/** The ObjectStore that a Cluster uses. */
export function pluginStore(spec: Fields): PluginStore | undefined {
  const plugin = spec.list("plugins").find((each) => each.text("name") === barmanPlugin && isEnabled(each));
  const store = plugin?.fields("parameters").text("barmanObjectName");
  return plugin === undefined || store === undefined
    ? undefined
    : { store, isArchive: plugin.boolean("isWALArchiver") === true };
}

function isEnabled(plugin: Fields): boolean {
  return plugin.boolean("enabled") !== false;
}

const readFields = ["name", "enabled", "isWALArchiver", "parameters"];

/** `stores` are the names of the ObjectStores in the files. */
export function comparePlugins(spec: Fields, stores: ReadonlySet<string>, report: Report): void {
  for (const plugin of spec.list("plugins")) {
    if (!isEnabled(plugin)) report.add(plugin.path, "unneeded", "it is not enabled");
    else if (plugin.text("name") === barmanPlugin) compareBarman(plugin, stores, report);
    else report.add(plugin.path, "byHand", "CNPG-I plugins do not run here", "find out what does its work here");
  }
}

function compareBarman(plugin: Fields, stores: ReadonlySet<string>, report: Report): void {
  const parameters = plugin.fields("parameters");
  const store = parameters.text("barmanObjectName");
  if (store === undefined)
    report.add(plugin.path, "byHand", "it names no ObjectStore", "write a BackupStore and spec.archive");
  else if (!stores.has(store))
    report.add(
      parameters.at("barmanObjectName"),
      "byHand",
      `the ObjectStore "${store}" is not in the files`,
      "adopt it too, or write a BackupStore of this name",
    );
  for (const name of Object.keys(parameters.value).filter((each) => each !== "barmanObjectName"))
    report.add(parameters.at(name), "unneeded", "paths in the store have the namespace, name and UID of the cluster");
  for (const name of Object.keys(plugin.value).filter((each) => !readFields.includes(each)))
    report.add(plugin.at(name), "unknown", "CloudNativePG 1.27 has no such field", "check its spelling");
}
