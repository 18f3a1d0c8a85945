/** The durable storage, on a subpath of its own because it needs `node:sqlite` and a file system. */
export type { SqliteStorageOptions } from "./sqlite-storage.ts";
export { openSqliteStorage } from "./sqlite-storage.ts";
