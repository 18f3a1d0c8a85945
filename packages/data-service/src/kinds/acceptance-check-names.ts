/** The checks of an acceptance run, in their order. */
export const acceptanceCheckNames = [
  "create-and-use",
  "change",
  "member-lost",
  "binding",
  "backup-and-restore",
  "damaged-backup-refused",
  "removal",
] as const;
export type AcceptanceCheckName = (typeof acceptanceCheckNames)[number];

/** The last check of every run: nothing that the run has created is left. */
export const cleanUpName = "clean-up";
