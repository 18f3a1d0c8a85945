import { isDeepStrictEqual } from "node:util";
import { isSetpointError } from "@setpoint/apimachinery";
import type { KubeObject, ReconcileContext, Stored } from "setpoint";
import type { PodFailures } from "setpoint/pods";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import type { EngineControl, InstanceState } from "../engine/control.ts";
import { type RestoreMark, restoreMarkOf } from "../engine/restore-mark.ts";
import { pathProblem, storeProblem } from "../engine/store-consent.ts";
import { agentPaths } from "../agent/request.ts";
import { Backup } from "../kinds/backup.ts";
import { BackupStore } from "../kinds/backup-store.ts";
import { Restore } from "../kinds/restore.ts";
import type { PhaseWatch } from "./phase-watch.ts";
import { isRestoreFinished, targetName } from "./restore-phase.ts";
import { archiveFolder, hasReplay, replayRefusal } from "./restore-target.ts";
import { restoreAhead } from "./turns.ts";
import { transferName } from "../transfer/attempt.ts";
import { observeTransfer, type SeenTransfer } from "../transfer/observe-transfer.ts";
import { transferResult } from "../transfer/transfer-result.ts";

/** The instance with the restored data, as its operator reports it. */
export interface SeenInstance<Instance extends KubeObject = KubeObject> {
  readonly object: Stored<Instance>;
  readonly uid: string;
  readonly state: InstanceState;
  readonly mark: RestoreMark | undefined;
}

/** Everything that decides about a Restore. */
export interface SeenRestore<Instance extends KubeObject = KubeObject> {
  readonly restore: Stored<Restore>;
  readonly nowMs: number;
  /** For how long this process has seen it in its phase. */
  readonly inPhaseMs: number;
  readonly image: string | undefined;
  /** The Backup of the source. */
  readonly backup: Stored<Backup> | undefined;
  readonly store: BackupStore | undefined;
  /** Why the store may not be used, or its path not be read. */
  readonly storeRefusal: string | undefined;
  /** The instance that the data are restored into. */
  readonly target: SeenInstance<Instance> | undefined;
  /** What the store has of the instance that the data are of; undefined while nobody knows its UID. */
  readonly archive: string | undefined;
  /** Why the engine cannot restore to the target. */
  readonly replayRefusal: string | undefined;
  /** Why the engine cannot restore into it. */
  readonly refusal: string | undefined;
  /** Why the instance cannot take data of this version; undefined when it can. */
  readonly versionRefusal: (engineVersion: string) => string | undefined;
  /** The instance that the data are of. */
  readonly original: Stored<Instance> | undefined;
  readonly safetyBackup: Stored<Backup> | undefined;
  /** The transfer of the current attempt, in a phase that has one. */
  readonly transfer: SeenTransfer;
  /** Pods of transfers that have not ended and are not being deleted. */
  readonly pods: readonly Stored<Pod>[];
  /** Pods that have prepared the claim, or failed at it, and would keep it from being deleted. */
  readonly spentPods: readonly Stored<Pod>[];
  /** The claim that the data are prepared on. */
  readonly claim: Stored<PersistentVolumeClaim> | undefined;
  /** The Restore into the same instance that goes first. */
  readonly ahead: Stored<Restore> | undefined;
}

/** The id of a restore follows from its UID, so that no other has it. */
export function restoreIdOf({ metadata }: Stored<Restore>): string {
  return metadata.uid.slice(0, 8);
}

export function safetyBackupName({ metadata }: Stored<Restore>): string {
  return `${metadata.name}-safety`;
}

/** The pod of the current phase; undefined in a phase without one. */
export function transferPodOf({ metadata, status }: Stored<Restore>): string | undefined {
  if (status?.phase === "Verifying") return restoreTransferName(metadata.name, "verify", status.attempt);
  return status?.phase === "Preparing" ? restoreTransferName(metadata.name, "prepare", status.attempt) : undefined;
}

/** Other than that of a Backup of the same name, which is verified by a pod too. */
export function restoreTransferName(restore: string, task: "verify" | "prepare", attempt: number | undefined): string {
  return transferName(`${restore}-restore`, task, attempt);
}

/** Where the prepared claim is mounted, and where the tool finds the snapshot. */
export const dataFolderPaths = {
  snapshotFile: "/run/setpoint/snapshot/snapshot",
  claimFolder: "/run/setpoint/data",
  replayFolder: agentPaths.replayFolder,
};

/** What an observation uses beyond the API server. */
interface RestorePorts {
  readonly image: string | undefined;
  readonly watch: PhaseWatch;
  readonly failures: PodFailures;
}

/** Reads an unfinished Restore from the server: a decision on an old status could repeat a step. */
export async function observeRestore<Instance extends KubeObject>(
  cached: Stored<Restore>,
  context: ReconcileContext,
  engine: EngineControl<Instance>,
  { image, watch, failures }: RestorePorts,
): Promise<SeenRestore<Instance>> {
  const { name, namespace = "" } = cached.metadata;
  const fresh = isRestoreFinished(cached) ? cached : await context.fresh(Restore, name, namespace);
  const restore = fresh?.metadata.uid === cached.metadata.uid ? fresh : cached;
  const { source, instance } = restore.spec;
  const backup = source.backup === undefined ? undefined : context.get(Backup, source.backup, namespace);
  const storeName = restore.status?.store ?? storeNameOf(restore, backup) ?? "";
  const store = context.get(BackupStore, storeName, namespace);
  const target = await observeTarget(restore, context, engine);
  const original = context.get(engine.kind, instance.name, namespace);
  const destination = { target, original, engine };
  const archive = restore.status?.archive ?? observeArchive(restore, backup, original, context);
  const pod = transferPodOf(restore);
  return {
    restore,
    nowMs: context.host.clock.now(),
    inPhaseMs: inPhase(restore, watch, context),
    image,
    backup,
    store,
    storeRefusal: isRestoreFinished(restore) ? undefined : await storeRefusalOf(restore, archive, store, context),
    target,
    archive,
    replayRefusal: replayRefusal(restore, engine),
    refusal: refusalOf(restore, destination, (each) => engine.refusal?.(each)),
    versionRefusal: (version) => refusalOf(restore, destination, (each) => engine.versionRefusal?.(each, version)),
    original,
    safetyBackup: context.get(Backup, safetyBackupName(restore), namespace),
    transfer:
      pod === undefined
        ? { state: "missing" }
        : await observeTransfer(pod, restore.status?.transferUID, restore, context, failures),
    spentPods: spentPods(restore, context),
    claim: await observeClaim(restore, target, context, engine),
    pods: context.children.list(Pod).filter(isUnderWay),
    ahead: restoreAhead(restore, context.list(Restore)),
  };
}

function isUnderWay(pod: Stored<Pod>): boolean {
  return pod.metadata.deletionTimestamp === undefined && transferResult(pod) === undefined;
}

/** The store that the source of the Restore names. */
export function storeNameOf({ spec: { source } }: Restore, backup: Backup | undefined): string | undefined {
  return source.stored?.store ?? source.archive?.store ?? backup?.spec.store;
}

/** An instance that is gone is known by the newest of its Backups. */
function observeArchive<Instance extends KubeObject>(
  restore: Stored<Restore>,
  backup: Stored<Backup> | undefined,
  original: Stored<Instance> | undefined,
  context: ReconcileContext,
): string | undefined {
  if (!hasReplay(restore)) return undefined;
  const { instance, source } = restore.spec;
  const [newest] = context
    .list(Backup, { namespace: restore.metadata.namespace })
    .filter(({ spec, status }) => isDeepStrictEqual(spec.instance, instance) && status?.takenAt !== undefined)
    .toSorted((a, b) => ((a.status?.takenAt ?? "") < (b.status?.takenAt ?? "") ? 1 : -1));
  const uid = original?.metadata.uid ?? newest?.status?.instanceUID;
  return archiveFolder(restore, source.stored?.object ?? backup?.status?.object, uid);
}

async function storeRefusalOf(
  { spec, status }: Stored<Restore>,
  archive: string | undefined,
  store: BackupStore | undefined,
  context: ReconcileContext,
): Promise<string | undefined> {
  if (store === undefined) return undefined;
  // A path has all its parts, also while the backup is not chosen.
  const inArchive = archive === undefined ? undefined : `${archive}/backup`;
  const path = status?.object ?? spec.source.stored?.object ?? inArchive;
  const problem =
    (await storeProblem(store, context)) ?? (path === undefined ? undefined : await pathProblem(store, path, context));
  return problem?.message;
}

/** A claim stays as long as there is a pod with it, also one that has ended. */
function spentPods({ metadata, status }: Stored<Restore>, { children }: ReconcileContext): readonly Stored<Pod>[] {
  const isPreparing = status?.phase === "Preparing" && status.retryAt === undefined;
  if (isPreparing) return [];
  return children
    .list(Pod)
    .filter(({ metadata: pod }) => pod.deletionTimestamp === undefined)
    .filter(({ metadata: pod }) => pod.name.startsWith(`${metadata.name}-restore-prepare-`));
}

function inPhase(restore: Stored<Restore>, watch: PhaseWatch, { host: { clock } }: ReconcileContext): number {
  const { uid } = restore.metadata;
  if (!isRestoreFinished(restore)) return watch.note(uid, restore.status?.phase ?? "", clock);
  watch.forget(uid);
  return 0;
}

/** In the steps that stop or start members, what the cache shows of them is too old to decide on. */
async function observeTarget<Instance extends KubeObject>(
  restore: Stored<Restore>,
  context: ReconcileContext,
  engine: EngineControl<Instance>,
): Promise<SeenInstance<Instance> | undefined> {
  const { namespace } = restore.metadata;
  const name = targetName(restore);
  const cached = context.get(engine.kind, name, namespace);
  const object = isRestoreFinished(restore) ? cached : await context.fresh(engine.kind, name, namespace);
  if (object === undefined) return undefined;
  return { object, uid: object.metadata.uid, state: engine.state(object), mark: restoreMarkOf(object) };
}

interface Destination<Instance extends KubeObject> {
  readonly target: SeenInstance<Instance> | undefined;
  readonly original: Stored<Instance> | undefined;
  readonly engine: EngineControl<Instance>;
}

/** Why `refuses` refuses the instance that the data are restored into, or that the restore would create. */
function refusalOf<Instance extends KubeObject>(
  restore: Stored<Restore>,
  { target, original, engine }: Destination<Instance>,
  refuses: (instance: Instance) => string | undefined,
): string | undefined {
  if (target !== undefined) return refuses(target.object);
  if (restore.spec.newInstance === undefined) return undefined;
  try {
    return refuses(createdInstance(restore, original, engine));
  } catch (error) {
    // The fields that the new instance lacks.
    if (isSetpointError(error)) return error.message;
    throw error;
  }
}

/** The instance that a restore creates: its spec over that of the original. */
export function createdInstance<Instance extends KubeObject>(
  { metadata, spec }: Stored<Restore>,
  original: Stored<Instance> | undefined,
  engine: EngineControl<Instance>,
): Instance {
  // Every kind of instance has a spec; the engine knows its fields.
  const before = (original as { readonly spec?: object } | undefined)?.spec ?? {};
  return engine.newInstance(spec.newInstance?.name ?? "", metadata.namespace ?? "", {
    ...before,
    ...spec.newInstance?.spec,
  });
}

/** Whether the claim with the prepared data is gone must come from the server: a cache may be late. */
async function observeClaim<Instance extends KubeObject>(
  restore: Stored<Restore>,
  target: SeenInstance<Instance> | undefined,
  context: ReconcileContext,
  engine: EngineControl<Instance>,
): Promise<Stored<PersistentVolumeClaim> | undefined> {
  if (target === undefined || restore.status === undefined || engine.refusal?.(target.object) !== undefined)
    return undefined;
  const { claim } = engine.dataFolder(target.object, restoreIdOf(restore), dataFolderPaths);
  const key = [PersistentVolumeClaim, claim.metadata.name ?? "", restore.metadata.namespace] as const;
  const cached = context.get(...key);
  return cached === undefined && restore.status.phase === "Starting" ? context.fresh(...key) : cached;
}
