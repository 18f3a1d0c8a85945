/** What becomes of the fields of the kinds beside the Cluster, by path below `spec`. */
import { byHand, changed, dropped, type FieldTable, unneeded } from "./field-table.ts";

const method = changed("the backup is a base backup in a BackupStore", undefined, ["barmanObjectStore"]);
const target = changed("a replica gives the backup when there is one", undefined, ["prefer-standby"]);
const online = changed("the server always runs while the backup is taken", undefined, [true]);

const takenBackup: FieldTable = {
  "cluster.name": "carried",
  method,
  target,
  online,
  onlineConfiguration: unneeded("a backup begins with a checkpoint at once, and has the log that it needs"),
  pluginConfiguration: dropped("CNPG-I plugins do not run here; the backup goes to the BackupStore"),
};

export const backupTable: FieldTable = takenBackup;

export const scheduledBackupTable: FieldTable = {
  ...takenBackup,
  schedule: "carried",
  suspend: "carried",
  immediate: byHand("a BackupPlan begins with its schedule", "apply a Backup of your own once", [false]),
  backupOwnerReference: changed("Backups stay when the BackupPlan or the cluster is deleted", undefined, ["none"]),
};

export const poolerTable: FieldTable = {
  "cluster.name": "carried",
  instances: "carried",
  type: "carried",
  "pgbouncer.poolMode": "carried",
  "pgbouncer.parameters": "carried",
  "pgbouncer.authQuery": unneeded("the pooler asks the primary for each login by a function of the operator"),
  "pgbouncer.authQuerySecret": unneeded("the pooler logs in by its certificate"),
  "pgbouncer.pg_hba": dropped("every login of the cluster gets in over TLS", "use a NetworkPolicy", [[]]),
  "pgbouncer.paused": dropped("the operator pauses by itself, during a switchover", undefined, [false]),
  deploymentStrategy: unneeded("a new pod serves before an old one ends"),
  "monitoring.enablePodMonitor": dropped("there are no metrics of the pooler yet", undefined, [false]),
  "monitoring.*": dropped("there are no metrics of the pooler yet"),
  "serviceTemplate.*": dropped(
    "the Service has the name of the pooler and the type ClusterIP",
    "write a Service of your own with its selector",
  ),
  "template.spec.containers": "carried",
  "template.spec.*": dropped("a PostgresPooler has image and resources, and no other fields of a pod"),
  "template.metadata": dropped("the labels and annotations of the pods are the operator's"),
};

const icu = "a PostgresDatabase has the field locale alone, of the C library";

export const databaseTable: FieldTable = {
  "cluster.name": "carried",
  name: "carried",
  owner: "carried",
  ensure: "carried",
  encoding: "carried",
  template: "carried",
  locale: "carried",
  localeCollate: "carried",
  localeCType: "carried",
  localeProvider: dropped(icu, "use collations of ICU by column", ["libc"]),
  icuLocale: dropped(icu, "use collations of ICU by column"),
  icuRules: dropped(icu, "use collations of ICU by column"),
  builtinLocale: dropped(icu, "set spec.locale to C.UTF-8"),
  collationVersion: dropped("the version is that of the image"),
  tablespace: dropped("there are no tablespaces"),
  isTemplate: dropped("a database is no template", "use ALTER DATABASE … IS_TEMPLATE true", [false]),
  allowConnections: dropped("a database takes connections", "use ALTER DATABASE … ALLOW_CONNECTIONS false", [true]),
  connectionLimit: "carried",
  databaseReclaimPolicy: "carried",
  "schemas[].name": "carried",
  "schemas[].owner": "carried",
  "schemas[].ensure": "carried",
  "extensions[].name": "carried",
  "extensions[].version": "carried",
  "extensions[].schema": "carried",
  "extensions[].ensure": "carried",
};

/** Kinds of CloudNativePG of which nothing is written, and why. */
export const kindsWithoutPlace = {
  Publication: ["dropped", "there is no kind for publications", "use CREATE PUBLICATION"],
  Subscription: ["dropped", "there is no kind for subscriptions", "use CREATE SUBSCRIPTION"],
  ImageCatalog: ["unneeded", "a PostgresCluster names its own image; clusters of these files have it already"],
  ClusterImageCatalog: ["unneeded", "a PostgresCluster names its own image; clusters of these files have it already"],
  FailoverQuorum: ["unneeded", "the operator counts the quorum itself"],
} as const;
