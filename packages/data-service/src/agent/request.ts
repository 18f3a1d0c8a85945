/** What the operator and the program in a transfer pod say to each other. Neither contains secrets. */
import { z } from "zod";
import { storedBackup } from "../engine/stored-backup.ts";

export { storedBackup };
export type { StoredBackup } from "../engine/stored-backup.ts";

/** Where a transfer pod finds its mounts. */
export const agentPaths = {
  /** The Secret with the store's credentials, a file a key. */
  storeSecret: "/run/setpoint/store",
  /** The claim of a store of kind `claim`. */
  storeClaim: "/run/setpoint/claim",
  /** The Secret with the encryption keys. */
  encryptionSecret: "/run/setpoint/encryption",
  /** The Secret that the engine's source names. */
  sourceSecret: "/run/setpoint/source",
  /** Where `fetch` writes the snapshot file. */
  snapshotFolder: "/run/setpoint/snapshot",
  /** Where `fetchWay` writes the log, on the claim that gets the data. */
  replayFolder: "/run/setpoint/data/replay",
} as const;

/** The environment variable that holds the request. */
export const requestVariable = "SETPOINT_AGENT_REQUEST";

const place = z.union([
  z.object({ type: z.literal("folder"), folder: z.string() }),
  z.object({ type: z.literal("s3"), bucket: z.string(), endpoint: z.string().optional(), region: z.string() }),
  z.object({ type: z.literal("gcs"), bucket: z.string(), endpoint: z.string().optional() }),
  z.object({ type: z.literal("azure"), container: z.string(), endpoint: z.string() }),
]);

const store = z.object({
  place,
  prefix: z.string(),
  /** The name of the key for new backups; undefined when they are not encrypted. */
  activeKey: z.string().optional(),
});

/** What the Backup's status says of it. A stored backup that differs was exchanged, and is refused. */
const expected = z.object({ sha256: z.string(), encryptionKey: z.string().optional() }).optional();

const target = z.object({
  kind: z.enum(["time", "position", "name", "transaction"]),
  value: z.string(),
  timeline: z.int().optional(),
});

const wayRequest = {
  engine: z.string(),
  store,
  /** What the store has of the instance: backups, and their log. */
  folder: z.string(),
  /** The backup to begin with; the best one when absent. */
  base: z.string().optional(),
  /** The end of the archive when absent. */
  target: target.optional(),
  /** The history to follow when the target names none; the newest when absent. */
  timeline: z.int().optional(),
  expected,
};

/** One order to a transfer pod. */
export const agentRequest = z.discriminatedUnion("task", [
  /**
   * Streams a snapshot into `object`, reads it back, and writes its manifest last. When `object` is complete
   * already, because the result of an earlier attempt was lost, that backup is verified and is the result.
   */
  z.object({ task: z.literal("backup"), engine: z.string(), store, object: z.string(), source: z.unknown() }),
  /** Reads `object` back and checks every byte. */
  z.object({ task: z.literal("verify"), engine: z.string(), store, object: z.string(), expected }),
  /** Writes the decrypted, verified snapshot to `agentPaths.snapshotFolder`/snapshot. */
  z.object({ task: z.literal("fetch"), engine: z.string(), store, object: z.string(), expected }),
  /** Finds the way to a target, and checks every byte of its backup and its segments. */
  z.object({ task: z.literal("verifyWay"), ...wayRequest }),
  /**
   * Writes the backup as `fetch` does, then the log, and `files` by their names, to
   * `agentPaths.replayFolder`.
   */
  z.object({ task: z.literal("fetchWay"), ...wayRequest, files: z.record(z.string(), z.string()) }),
  /** Deletes `object`, and what an interrupted backup of it left. Deleting what is gone succeeds. */
  z.object({ task: z.literal("delete"), engine: z.string(), store, object: z.string() }),
  /** For acceptance tests: changes a byte of `object` in the store, as a bad disk does. */
  z.object({ task: z.literal("damage"), engine: z.string(), store, object: z.string() }),
]);
export type AgentRequest = z.infer<typeof agentRequest>;
export type StoreRequest = z.infer<typeof store>;

/** The environment variable that tells the server of an engine where its archive is. */
export const archiveVariable = "SETPOINT_LOG_ARCHIVE";

/** What `archiveVariable` holds. */
export const archiveAccess = z.object({
  /** What the store has of the instance. */
  folder: z.string(),
  store,
});
export type ArchiveAccess = z.infer<typeof archiveAccess>;

const entries = {
  engine: z.string(),
  source: z.unknown(),
  /** The keys are `prefix` with a number from 0, and each value is its key. */
  prefix: z.string(),
  count: z.int().min(1).max(100_000),
};

/** What acceptance tests ask of an instance as its client. */
export const probeRequest = z.discriminatedUnion("task", [
  /** Writes the keys in order. Each is tried until the instance acknowledges it. */
  z.object({ task: z.literal("write"), ...entries, pauseMs: z.int().min(0).max(10_000) }),
  /** Reads the keys. */
  z.object({ task: z.literal("read"), ...entries }),
]);
export type ProbeRequest = z.infer<typeof probeRequest>;

/** What a client of the instance got. */
export const probeOutcome = z.object({
  /** How many keys were acknowledged, or have their value. */
  entries: z.int(),
  /** Some of the keys that are missing or have another value. */
  wrong: z.array(z.string()).optional(),
  /** The longest time between two acknowledgements. */
  longestGapMs: z.int().optional(),
});
export type ProbeOutcome = z.infer<typeof probeOutcome>;

/** How a restore gets to its target. */
const restoreWay = z.object({
  /** The backup that it begins with. */
  object: z.string(),
  timeline: z.int(),
  segments: z.int(),
  /** The first position that the archive does not lead to. */
  end: z.string(),
  from: z.string(),
  to: z.string(),
});
export type RestoreWay = z.infer<typeof restoreWay>;

/** The answer: the termination message of the pod's container, at most 4,096 bytes. */
export const agentResult = z.discriminatedUnion("outcome", [
  z.object({
    outcome: z.literal("done"),
    backup: storedBackup.optional(),
    way: restoreWay.optional(),
    probe: probeOutcome.optional(),
  }),
  z.object({
    outcome: z.literal("failed"),
    /** CamelCase; `transferReasons` lists them. */
    reason: z.string(),
    message: z.string(),
    /** Whether another attempt may succeed. */
    retry: z.boolean(),
  }),
]);
export type AgentResult = z.infer<typeof agentResult>;
