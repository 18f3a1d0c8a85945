/** What all operators of data services share; see the README of the package. */
export { Backup } from "./kinds/backup.ts";
export { BackupStore } from "./kinds/backup-store.ts";
export type { InstanceReference } from "./kinds/instance.ts";
export { instanceReference } from "./kinds/instance.ts";
export type {
  DataFolder,
  DataFolderPaths,
  EngineControl,
  InstanceAccess,
  InstanceState,
  Rights,
  SnapshotSource,
  UserAdministration,
  UserCredentials,
} from "./engine/control.ts";
