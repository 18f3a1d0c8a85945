/** What becomes of how a Cluster of CloudNativePG gets its first data. */
import { below, byHand, changed, dropped, type FieldTable, unneeded } from "./field-table.ts";
import { importTable } from "./adopt-import.ts";

const locale = "the databases of the first start have the locale C.UTF-8";
const localeTodo = "create a PostgresDatabase with spec.locale and template0";
const sql = "no SQL runs at the first start";
const sqlTodo = "run it with psql over the socket of the primary's pod, or use PostgresRole and PostgresDatabase";
const secret = "the operator makes the owner's password, in the Secret NAME-app";
const secretTodo = "let applications read that Secret, or create a PostgresRole with password.source: given";
const data = "what is written starts with empty data";

const initdb: FieldTable = {
  database: "carried",
  owner: "carried",
  secret: byHand(secret, secretTodo),
  dataChecksums: changed("the data always have checksums", undefined, [true]),
  encoding: changed("the encoding is UTF8", "create a PostgresDatabase with spec.encoding", ["UTF8"]),
  locale: changed(locale, localeTodo, ["C.UTF-8"]),
  localeCollate: changed(locale, localeTodo, ["C.UTF-8"]),
  localeCType: changed(locale, localeTodo, ["C.UTF-8"]),
  localeProvider: dropped(locale, "use collations of ICU by column", ["libc"]),
  icuLocale: dropped(locale, "use collations of ICU by column"),
  icuRules: dropped(locale, "use collations of ICU by column"),
  builtinLocale: dropped(locale, localeTodo),
  walSegmentSize: changed("a segment of the log has 16 MB", undefined, [16]),
  options: dropped("initdb has no other options"),
  postInitSQL: dropped(sql, sqlTodo),
  postInitSQLRefs: dropped(sql, sqlTodo),
  postInitApplicationSQL: dropped(sql, sqlTodo),
  postInitApplicationSQLRefs: dropped(sql, sqlTodo),
  postInitTemplateSQL: dropped(sql, sqlTodo),
  postInitTemplateSQLRefs: dropped(sql, sqlTodo),
  ...below("import", importTable),
};

const recovery: FieldTable = {
  database: "carried",
  owner: "carried",
  secret: byHand(secret, secretTodo),
  backup: byHand(
    `${data}; no backups of CloudNativePG are read`,
    "restore them with CloudNativePG, then move the data as docs/postgres-from-cnpg.md describes",
  ),
  source: byHand(
    `${data}; no backups of Barman are read`,
    "restore them with CloudNativePG, then move the data as docs/postgres-from-cnpg.md describes",
  ),
  volumeSnapshots: byHand(
    `${data}; no snapshots of volumes are read`,
    "restore them with CloudNativePG, then move the data as docs/postgres-from-cnpg.md describes",
  ),
  recoveryTarget: byHand(
    "a moment of the past is a Restore of its own, and needs an archive of this cluster",
    "once it has a BackupStore and a backup, apply a Restore with source.archive and target",
  ),
};

const baseBackup: FieldTable = {
  database: "carried",
  owner: "carried",
  secret: byHand(secret, secretTodo),
  source: byHand(
    `${data}; no server is copied by pg_basebackup`,
    "write spec.bootstrap.import with the password of a superuser of that server",
  ),
};

const came = unneeded("the data come from the Cluster, which has them already");

/** By path below `spec`, where the Cluster itself is the source of the data. */
export const importingBootstrapTable: FieldTable = {
  "bootstrap.initdb.import": came,
  ...below("bootstrap.recovery", { backup: came, source: came, volumeSnapshots: came, recoveryTarget: came }),
  "bootstrap.pg_basebackup.source": came,
};

/** By path below `spec`. */
export const bootstrapTable: FieldTable = {
  ...below("bootstrap.initdb", initdb),
  ...below("bootstrap.recovery", recovery),
  ...below("bootstrap.pg_basebackup", baseBackup),
};
