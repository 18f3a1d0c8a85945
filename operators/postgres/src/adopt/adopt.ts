/**
 * From manifests of CloudNativePG to ours: objects in, objects and differences out; pure. Each field of the
 * input is carried over, or it is in a difference.
 */
import { adoptBackup, adoptSchedule, type ClusterBackups } from "./adopt-backups.ts";
import { adoptCluster, type ClusterSurroundings } from "./adopt-cluster.ts";
import { adoptDatabase } from "./adopt-database.ts";
import { adoptPooler } from "./adopt-pooler.ts";
import { acceptanceProblem } from "./acceptance-problem.ts";
import { type Difference, Report } from "./difference.ts";
import { Fields, InputRefused } from "./fields.ts";
import { clusterNameOf, type InputObject, inputObjects, isOfCnpg } from "./input-object.ts";
import { adoptObjectStore, pluginStore } from "./adopt-plugins.ts";
import { Names, storeNameOf } from "./names.ts";
import { kindsWithoutPlace } from "./other-tables.ts";
import type { OutputObject } from "./output-object.ts";
import { type Catalogues, catalogueKey } from "./server-image.ts";

export interface Adopted {
  readonly objects: readonly OutputObject[];
  readonly differences: readonly Difference[];
}

export interface AdoptOptions {
  /** Where everything goes; the namespace of each object when absent. */
  readonly namespace?: string;
  /** Whether a PostgresCluster takes its data from the Cluster that it is written for. */
  readonly isImporting?: boolean;
}

/** What the objects of the files say about each other. */
interface Surroundings {
  readonly isImporting: boolean;
  readonly names: Names;
  readonly catalogues: Catalogues;
  readonly backups: ReadonlyMap<string, ClusterBackups>;
  /** The clusters that a ScheduledBackup is about. */
  readonly scheduled: ReadonlySet<string>;
  readonly objectStores: readonly InputObject[];
}

/** Of parsed documents. Throws `InputRefused` when they are no manifests of CloudNativePG. */
export function adopt(documents: readonly unknown[], options: AdoptOptions = {}): Adopted {
  const inputs = documents.flatMap((document) => inputObjects(document, options.namespace));
  if (!inputs.some(isOfCnpg))
    throw InputRefused.at("the files", "apiVersion", "an object of postgresql.cnpg.io/v1", kindsOf(inputs));
  const around: Surroundings = {
    isImporting: options.isImporting === true,
    names: new Names(),
    catalogues: cataloguesOf(inputs),
    backups: backupsOf(inputs),
    scheduled: new Set(ofKind(inputs, "ScheduledBackup").map((input) => keyOf(input, clusterNameOf(input)))),
    objectStores: ofKind(inputs, "ObjectStore"),
  };
  const made = inputs.map((input) => adoptObject(input, around));
  return {
    objects: made.flatMap(({ objects }) => objects),
    differences: made.flatMap(({ differences }) => differences),
  };
}

/** What is there instead. */
function kindsOf(inputs: readonly InputObject[]): string | undefined {
  const kinds = new Set(inputs.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`));
  return kinds.size === 0 ? undefined : [...kinds].join(", ");
}

function adoptObject(input: InputObject, around: Surroundings): Adopted {
  const report = new Report(input.label);
  const objects = isOfCnpg(input) ? adoptOwn(input, around, report) : passOver(report);
  for (const object of objects) {
    const problem = acceptanceProblem(object);
    if (problem !== undefined)
      report.add(
        "",
        "refused",
        `${object.kind} "${object.metadata.name}" is not accepted: ${problem}`,
        "change it before you apply it",
      );
  }
  return { objects, differences: report.differences };
}

function passOver(report: Report): readonly OutputObject[] {
  report.add(
    "",
    "unneeded",
    "it is no object of CloudNativePG, and is not written",
    "apply it as it is where it is used",
  );
  return [];
}

function adoptOwn(input: InputObject, around: Surroundings, report: Report) {
  const backupsOfCluster = (): ClusterBackups => around.backups.get(keyOf(input, clusterNameOf(input))) ?? {};
  switch (input.kind) {
    case "Cluster":
      return adoptCluster(input, surroundingsOf(input, around), report);
    case "ObjectStore":
      return adoptObjectStore(input, isScheduledInto(input, around), report);
    case "Backup":
      return adoptBackup(input, backupsOfCluster(), report);
    case "ScheduledBackup":
      return adoptSchedule(input, backupsOfCluster(), report);
    case "Pooler":
      return adoptPooler(input, around.names, report);
    case "Database":
      return adoptDatabase(input, report);
    default:
      return withoutPlace(input.kind, report);
  }
}

function withoutPlace(kind: string, report: Report): readonly OutputObject[] {
  const known = Object.entries(kindsWithoutPlace).find(([name]) => name === kind)?.[1];
  const [outcome, why, todo] = known ?? (["unknown", "CloudNativePG 1.27 has no such kind", "check its name"] as const);
  report.add("", outcome, why, todo);
  return [];
}

function keyOf({ namespace = "" }: InputObject, cluster: string): string {
  return `${namespace}/${cluster}`;
}

function backupsOf(inputs: readonly InputObject[]): ReadonlyMap<string, ClusterBackups> {
  const clusters = ofKind(inputs, "Cluster");
  const objectStores = new Map(ofKind(inputs, "ObjectStore").map((each) => [keyOf(each, each.name), each]));
  return new Map(clusters.map((input) => [keyOf(input, input.name), clusterBackups(input, objectStores)]));
}

function clusterBackups(input: InputObject, objectStores: ReadonlyMap<string, InputObject>): ClusterBackups {
  const plugin = pluginStore(input.spec);
  const backup = input.spec.fields("backup");
  const retentionPolicy =
    plugin === undefined
      ? backup.text("retentionPolicy")
      : objectStores.get(keyOf(input, plugin.store))?.spec.text("retentionPolicy");
  const store = plugin?.store ?? (backup.has("barmanObjectStore") ? storeNameOf(input.name) : undefined);
  return {
    ...(store === undefined ? {} : { store }),
    ...(retentionPolicy === undefined ? {} : { retentionPolicy }),
  };
}

function ofKind(inputs: readonly InputObject[], kind: string): readonly InputObject[] {
  return inputs.filter((input) => isOfCnpg(input) && input.kind === kind);
}

function surroundingsOf(input: InputObject, around: Surroundings): ClusterSurroundings {
  const beside = around.objectStores.filter((each) => each.namespace === input.namespace);
  return {
    ...around,
    objectStores: new Set(beside.map(({ name }) => name)),
    isScheduled: around.scheduled.has(keyOf(input, input.name)),
  };
}

/** Whether a ScheduledBackup is about a Cluster that uses the ObjectStore. */
function isScheduledInto(store: InputObject, { backups, scheduled }: Surroundings): boolean {
  const isUsed = (key: string): boolean => backups.get(key)?.store === store.name;
  return [...scheduled].some((key) => key.startsWith(keyOf(store, "")) && isUsed(key));
}

function cataloguesOf(inputs: readonly InputObject[]): Catalogues {
  const catalogues = inputs.filter((input) => isOfCnpg(input) && /^(Cluster)?ImageCatalog$/.test(input.kind));
  return new Map(
    catalogues.map(({ kind, name, spec }) => [
      catalogueKey(kind, name),
      new Map(spec.list("images").map((each: Fields) => [each.number("major") ?? 0, each.requiredText("image")])),
    ]),
  );
}
