import { z } from "zod";

/** What is known of a stored backup; also part of a transfer's result. */
export const storedBackup = z.object({
  format: z.literal(1),
  engine: z.string(),
  engineVersion: z.string(),
  position: z.string(),
  takenAt: z.string(),
  dataBytes: z.int(),
  storedBytes: z.int(),
  sha256: z.string(),
  /** The SHA-256 of the stored bytes. */
  storedSha256: z.string(),
  encryptionKey: z.string().optional(),
  /** Where the log goes on from it; absent when it can be restored as a whole only. */
  log: z.object({ timeline: z.int(), start: z.string(), endedAtMs: z.int() }).optional(),
});
export type StoredBackup = z.infer<typeof storedBackup>;
