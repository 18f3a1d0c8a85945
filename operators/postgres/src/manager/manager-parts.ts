/**
 * What an instance manager needs beside its decisions: files, processes, time and other instances. In the
 * simulated world models stand in their place, and the decisions are the same code.
 */
import type { DesiredInstance } from "../instance/instance-protocol.ts";
import type { ArchiveFolder } from "./archive-folder.ts";
import type { DataDirectory } from "./data-directory.ts";
import type { DataImport } from "./import/data-import.ts";
import type { WantedDatabase } from "./inner-objects.ts";
import type { ManagerClock } from "./manager-clock.ts";
import type { BaseCopy } from "./other-server/base-copy.ts";
import type { PostgresServer } from "./postgres-server.ts";
import type { PrimaryLease } from "./primary-lease.ts";
import type { SettingsKeeper } from "./settings-keeper.ts";
import type { Sql } from "./sql.ts";
import type { UpgradeKeeper } from "./upgrade/upgrade-keeper.ts";
import type { Wakeup } from "./wakeup.ts";

/** What a class shows to others, without its private state. */
type Shown<T> = Pick<T, keyof T>;

export interface InstanceManagerParts {
  readonly name: string;
  readonly clock: ManagerClock;
  readonly data: Shown<DataDirectory>;
  readonly server: Shown<PostgresServer>;
  readonly sql: Pick<Sql, "facts" | "forget" | "run">;
  readonly lease: PrimaryLease;
  readonly archive: Pick<ArchiveFolder, "readReport" | "serverEnds">;
  readonly document: DocumentFile;
  readonly settings: Shown<SettingsKeeper>;
  readonly innerObjects: InnerObjects;
  readonly dataImport: Shown<DataImport>;
  readonly baseCopy: Shown<BaseCopy>;
  readonly upgrade: Shown<UpgradeKeeper>;
  /** Woken when there is something to do at once. */
  readonly wakeup: Wakeup;
  /** Writes a line to the log of the container. */
  readonly complain: (line: string) => void;
}

/** What the operator said last; it outlives the process. */
export interface DocumentFile {
  /** Undefined when there is none, or none that can be read: the operator sends it again. */
  readonly read: () => DesiredInstance | undefined;
  readonly write: (desired: DesiredInstance) => void;
}

export interface InnerObjects {
  /** The password of the database's owner, as the Secret has it now. */
  readonly readPassword: () => string;
  /** Creates the roles and the database that are missing, and sets the password. */
  readonly ensure: (database: WantedDatabase) => Promise<void>;
}
