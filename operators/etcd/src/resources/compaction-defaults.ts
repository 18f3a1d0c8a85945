/** Without it etcd keeps all history, and its file grows until it accepts no more writes. */
export const compactionDefaults: Readonly<Record<string, string>> = {
  "auto-compaction-mode": "periodic",
  "auto-compaction-retention": "1h",
};
