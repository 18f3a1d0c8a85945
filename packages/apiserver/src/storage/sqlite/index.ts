/** The durable storage, on a subpath of its own because it needs `node:sqlite` and a file system. */
export type { SqliteStorageOptions } from "./sqlite-storage.ts";
export { openSqliteStorage } from "./sqlite-storage.ts";

// checking and repairing
export type { StoreCopy } from "./backup-store.ts";
export { backupStore, restoreStore } from "./backup-store.ts";
export type { StoreReport } from "./check-store.ts";
export { checkStore } from "./check-store.ts";
export type { StoreRepair } from "./repair-store.ts";
export { repairStore } from "./repair-store.ts";
