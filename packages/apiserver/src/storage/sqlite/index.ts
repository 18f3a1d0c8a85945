/** The durable storage, on a subpath of its own because it needs `node:sqlite` and a file system. */
export type { SqliteStorageOptions } from "./sqlite-storage.ts";
export { openSqliteStorage } from "./sqlite-storage.ts";

// the disk that it is on
export { diskRoom, fullDiskText, isDiskFull } from "./disk-room.ts";
export type { DiskRoom } from "./disk-room.ts";

// checking and repairing
export type { StoreCopy } from "./backup-store.ts";
export { backupStore, restoreStore } from "./backup-store.ts";
export type { StoreReport } from "./check-store.ts";
export { checkStore } from "./check-store.ts";
export type { StoreRepair } from "./repair-store.ts";
export { repairStore } from "./repair-store.ts";
