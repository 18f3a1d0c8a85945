import type { KubeObject, ReconcileContext, Stored } from "setpoint";
import type { PodFailures } from "setpoint/pods";
import { Pod } from "setpoint/kinds";
import type { EngineControl, InstanceState, SnapshotSource } from "../engine/control.ts";
import { externalSecretProblem } from "../engine/consent.ts";
import { storeProblem } from "../engine/store-consent.ts";
import { Backup } from "../kinds/backup.ts";
import { BackupStore } from "../kinds/backup-store.ts";
import { transferName } from "../transfer/attempt.ts";
import { observeTransfer, type SeenTransfer } from "../transfer/observe-transfer.ts";
import { transferResult } from "../transfer/transfer-result.ts";
import { isFinished } from "./backup-phase.ts";
import { backupAhead } from "./turns.ts";

/** An instance that no operator runs: how a transfer pod reaches it, or why none can. */
export type SeenExternal =
  | { readonly refusal: string; readonly source?: undefined; readonly blocked?: undefined }
  | {
      readonly refusal?: undefined;
      readonly source: SnapshotSource;
      /** Why its Secrets are not sent now. */
      readonly blocked: string | undefined;
    };

/** Everything that decides about a Backup. */
export interface SeenBackup {
  readonly backup: Stored<Backup>;
  readonly nowMs: number;
  readonly store: BackupStore | undefined;
  /** Why the claim or the Secrets of the store may not be used. */
  readonly storeRefusal: string | undefined;
  /** Undefined when it does not exist. */
  readonly instance:
    | { readonly uid: string; readonly state: InstanceState; readonly source: SnapshotSource }
    | undefined;
  /** What `spec.external` means to the engine; undefined in a Backup without it. */
  readonly external: SeenExternal | undefined;
  /** The image of transfer pods; undefined when the operator does not know it. */
  readonly image: string | undefined;
  /** The transfer of the current attempt. */
  readonly transfer: SeenTransfer;
  /** Transfer pods of this Backup. */
  readonly pods: readonly Stored<Pod>[];
  /** The Backup of the same instance that goes first. */
  readonly ahead: Stored<Backup> | undefined;
}

/** The task of the attempt that a Backup is at. */
export function taskOf({ status }: Backup): "backup" | "verify" {
  return status?.phase === "Verifying" ? "verify" : "backup";
}

/** Reads an unfinished Backup from the server: a decision on an old status could repeat a transfer. */
export async function observeBackup<Instance extends KubeObject>(
  cached: Stored<Backup>,
  context: ReconcileContext,
  engine: EngineControl<Instance>,
  { image, failures }: { readonly image: string | undefined; readonly failures: PodFailures },
): Promise<SeenBackup> {
  const { name, namespace = "" } = cached.metadata;
  const fresh = isFinished(cached) ? cached : await context.fresh(Backup, name, namespace);
  const backup = fresh?.metadata.uid === cached.metadata.uid ? fresh : cached;
  const instance = context.get(engine.kind, backup.spec.instance.name, namespace);
  const store = context.get(BackupStore, backup.spec.store, namespace);
  return {
    backup,
    nowMs: context.host.clock.now(),
    store,
    storeRefusal: isFinished(backup) || store === undefined ? undefined : (await storeProblem(store, context))?.message,
    instance:
      instance === undefined
        ? undefined
        : { uid: instance.metadata.uid, state: engine.state(instance), source: engine.source(instance) },
    external: await observeExternal(backup, engine, context),
    image,
    transfer: isFinished(backup) ? { state: "missing" } : await currentTransfer(backup, context, failures),
    pods: context.children.list(Pod),
    ahead: backupAhead(backup, context.list(Backup)),
  };
}

async function observeExternal<Instance extends KubeObject>(
  backup: Stored<Backup>,
  engine: EngineControl<Instance>,
  context: ReconcileContext,
): Promise<SeenExternal | undefined> {
  const { external } = backup.spec;
  if (external === undefined) return undefined;
  if (engine.external === undefined)
    return { refusal: `the operator of ${engine.kind.kind} cannot back up an instance that no operator runs` };
  const refusal = engine.external.refusal(external);
  if (refusal !== undefined) return { refusal };
  const source = engine.external.source(external);
  // Only a transfer from the instance gets them.
  const names = isFinished(backup) || taskOf(backup) === "verify" ? [] : (source.secretNames ?? []);
  const problem = await externalSecretProblem(names, backup.metadata.namespace ?? "", context);
  return { source, blocked: problem?.message };
}

/** Where the data come from; undefined while that is not known. */
export function sourceOf({ external, instance }: SeenBackup): SnapshotSource | undefined {
  return external === undefined ? instance?.source : external.source;
}

function currentTransfer(
  backup: Stored<Backup>,
  context: ReconcileContext,
  failures: PodFailures,
): Promise<SeenTransfer> {
  const { attempt, transferUID } = backup.status ?? {};
  const pod = transferName(backup.metadata.name, taskOf(backup), attempt);
  return observeTransfer(pod, transferUID, backup, context, failures);
}

/** A transfer pod that may still write, other than that of the current attempt. */
export function otherWriter({ pods }: SeenBackup, current: string): string | undefined {
  return pods.find((pod) => pod.metadata.name !== current && transferResult(pod) === undefined)?.metadata.name;
}

/** Transfer pods that nobody waits for any more: the Backup has finished, and they may still start. */
export function leftPods({ backup, pods }: SeenBackup): readonly Stored<Pod>[] {
  if (!isFinished(backup)) return [];
  return pods.filter((pod) => pod.metadata.deletionTimestamp === undefined && transferResult(pod) === undefined);
}
