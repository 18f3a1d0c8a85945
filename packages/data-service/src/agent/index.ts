/** The program in transfer pods; see the README of the package. */
export type {
  AgentEnvironment,
  EngineAgent,
  EngineValues,
  Snapshot,
  SnapshotFacts,
  SnapshotLog,
  VerifiedSnapshot,
} from "../engine/agent.ts";
export type { EngineLog, LogSegmentFacts, TimelineFork } from "../engine/log.ts";
export { InvalidSnapshotError } from "../engine/agent.ts";
export type { TransferReason } from "../engine/transfer-error.ts";
export { cancelledError, isTransferError, TransferError, transferReasons } from "../engine/transfer-error.ts";
export type { AgentRequest, AgentResult, StoredBackup, StoreRequest } from "./request.ts";
export { agentPaths, agentRequest, agentResult, requestVariable, storedBackup } from "./request.ts";
export type { Conceal } from "./concealment.ts";
export { concealingLogger, folderConcealment } from "./concealment.ts";
export type { AgentOptions } from "./run-agent.ts";
export { runAgent } from "./run-agent.ts";
// The archive of a log
export type { ArchivedFile, ArchivedFork, ArchivedLog, ArchivedSegment, StoredFile } from "../archive/archived-file.ts";
export type { ArchiveReport, ArchivingState } from "../archive/archive-report.ts";
export { archiveReport } from "../archive/archive-report.ts";
export type { ListedArchive } from "../archive/list-archive.ts";
export { listArchive } from "../archive/list-archive.ts";
export type { LogArchive } from "../archive/log-archive.ts";
export { archiveSegment, readArchived } from "../archive/log-archive.ts";
export { LogArchiver } from "../archive/log-archiver.ts";
export { openLogArchive } from "./log-access.ts";
// Storage
export type { BackupStorage } from "../storage/backup-storage.ts";
export type { StoragePatience } from "../storage/opendal-storage.ts";
export { openStorage } from "../storage/opendal-storage.ts";
export type { StorePlace } from "../storage/store-place.ts";
