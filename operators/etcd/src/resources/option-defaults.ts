/** Options that members have when a user sets none of their kind. */

/** Without it etcd keeps all history, and its file grows until it accepts no more writes. */
const compaction: Readonly<Record<string, string>> = {
  "auto-compaction-mode": "periodic",
  "auto-compaction-retention": "1h",
};
/** Without it etcd does not measure how long requests of clients take. */
const metrics = { metrics: "extensive" };

/** All of them. */
export const optionDefaults: Readonly<Record<string, string>> = { ...compaction, ...metrics };

/** Those that a member has beside the options that were chosen; the two of compaction belong together. */
export function defaultsBeside(chosen: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const isChosen = Object.keys(compaction).some((option) => chosen[option] !== undefined);
  return isChosen ? metrics : optionDefaults;
}
