/** Reconciles Restores of one engine. */
import type { ConditionInit, KindRef, KubeObject, ReconcileContext, Result, Stored } from "setpoint";
import { PodFailures } from "setpoint/pods";
import { controller, isAlreadyExists, keyOf, watching } from "setpoint";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import type { EngineControl } from "../engine/control.ts";
import type { ReplaySettings } from "../engine/target.ts";
import { restoreAnnotation } from "../engine/restore-mark.ts";
import { Backup } from "../kinds/backup.ts";
import { BackupStore } from "../kinds/backup-store.ts";
import { Restore } from "../kinds/restore.ts";
import { selectionOf } from "../kinds/selection.ts";
import type { ControllerOptions } from "../transfer/controller-options.ts";
import { deletePods } from "../transfer/delete-pods.ts";
import { transferPod } from "../transfer/transfer-pod.ts";
import { abandonRestore } from "./abandon-restore.ts";
import { decideRestore, type RestoreActions, type RestoreStatus } from "./decide-restore.ts";
import { PhaseWatch } from "./phase-watch.ts";
import { preparePod } from "./prepare-pod.ts";
import { targetName } from "./restore-phase.ts";
import { fetchRequest, verifyRequest } from "./restore-request.ts";
import { restoreTarget } from "./restore-target.ts";
import { createdInstance, dataFolderPaths, observeRestore, restoreIdOf, type SeenRestore } from "./seen-restore.ts";

/** The controller of Restores whose instances are of this engine; it ignores all others. */
export function restoreController<Instance extends KubeObject>(
  engine: EngineControl<Instance>,
  { image }: ControllerOptions,
): ReturnType<typeof controller> {
  const watch = new PhaseWatch();
  const failures = new PodFailures();
  return controller<Restore, SeenRestore<Instance>, RestoreActions>(Restore, {
    name: `${engine.name}-restore`,
    select: { fieldSelector: selectionOf(engine.kind) },
    owns: [Pod, Backup],
    watches: [
      BackupStore,
      PersistentVolumeClaim,
      watching(Backup, (backup, cache) =>
        cache
          .list(Restore, { namespace: backup.metadata.namespace })
          .filter(({ spec }) => spec.source.backup === backup.metadata.name)
          .map(keyOf),
      ),
      watching<KubeObject>(engine.kind as KindRef, (instance, cache) =>
        cache
          .list(Restore, { namespace: instance.metadata.namespace })
          .filter((restore) => targetName(restore) === instance.metadata.name)
          .map(keyOf),
      ),
    ],
    observe: (restore, context) => observeRestore(restore, context, engine, { image, watch, failures }),
    plan: (seen) => decideRestore(seen).step,
    status: (seen) => decideRestore(seen).status,
    conditions: (seen) => [succeeded(decideRestore(seen).status)],
    actions: actionsOf(engine),
    cleanup(restore, context) {
      watch.forget(restore.metadata.uid);
      return abandonRestore(restore, context, engine);
    },
  });
}

type Handlers<Instance extends KubeObject> = {
  readonly [Name in keyof RestoreActions]: (
    args: RestoreActions[Name],
    context: ReconcileContext,
    seen: SeenRestore<Instance>,
  ) => Promise<Result | void>;
};

function actionsOf<Instance extends KubeObject>(engine: EngineControl<Instance>): Handlers<Instance> {
  return {
    startVerify: ({ pod }, { create }, { restore, store, image = "" }) =>
      store === undefined
        ? Promise.resolve()
        : done(
            create(
              transferPod({
                ...transferOf(restore, pod, image),
                store,
                request: verifyRequest(engine.name, restore, store),
              }),
            ),
          ),

    createSafetyBackup: ({ name }, { create }, { restore, store }) => done(create(safetyBackup(name, restore, store))),

    async createInstance(_, context, { restore, original }) {
      const instance = createdInstance(restore, original, engine);
      const annotations = {
        ...instance.metadata.annotations,
        ...restoreAnnotation({ id: restoreIdOf(restore), state: "waiting" }),
      };
      // The instance outlives its Restore.
      const marked = { ...instance, metadata: { ...instance.metadata, annotations } };
      await context.create(marked, { owner: false }).catch(unlessExists);
    },

    async mark(mark, { patch }, { target }) {
      // A mark that the server gets late must not replace the one that came after it.
      if (target !== undefined)
        await patch(target.object, { metadata: { annotations: restoreAnnotation(mark) } }, { unchanged: true });
    },

    async createClaim(_, context, { restore, target }) {
      if (target === undefined) return;
      const { claim } = engine.dataFolder(target.object, restoreIdOf(restore), dataFolderPaths);
      await context.create(claim, { owner: false }).catch(unlessExists);
    },

    async discardClaim(_, context, { claim }) {
      if (claim !== undefined) await context.delete(claim);
    },

    async startPrepare({ pod }, { create }, { restore, store, image = "", target, claim }) {
      if (store === undefined || target === undefined || claim === undefined) return;
      const folder = engine.dataFolder(target.object, restoreIdOf(restore), dataFolderPaths);
      const replay = replayOf(restore, engine);
      const transfer = {
        ...transferOf(restore, pod, image),
        store,
        request: fetchRequest(engine.name, restore, store, replay),
      };
      await create(preparePod(transfer, folder, claim.metadata.name, replay));
    },

    deletePods: (args, context, { pods, spentPods }) =>
      deletePods(
        [...pods, ...spentPods].filter(({ metadata }) => args.pods.includes(metadata.name)),
        context,
      ),

    async report({ failure }, { event }) {
      if (failure !== undefined) event("Warning", "RestoreFailed", failure);
    },
  };
}

async function done(write: Promise<unknown>): Promise<void> {
  await write;
}

function unlessExists(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}

function transferOf({ metadata, spec }: Stored<Restore>, name: string, image: string) {
  const { deadlineSeconds } = spec;
  return { name, namespace: metadata.namespace ?? "", owner: "restore", image, deadlineSeconds };
}

/** What the engine needs to stop at the target; undefined when nothing is replayed. */
function replayOf<Instance extends KubeObject>(
  restore: Restore,
  engine: EngineControl<Instance>,
): ReplaySettings | undefined {
  const { way } = restore.status ?? {};
  if (way === undefined) return undefined;
  return engine.target?.replay({ target: restoreTarget(restore), timeline: way.timeline, end: way.end });
}

function safetyBackup(name: string, { metadata, spec }: Stored<Restore>, store: BackupStore | undefined): Backup {
  const { instance, deadlineSeconds, attempts } = spec;
  return Backup({
    name,
    namespace: metadata.namespace ?? "",
    spec: { instance, store: store?.metadata.name ?? "", deadlineSeconds, attempts },
  });
}

function succeeded({ phase, message = "" }: RestoreStatus): ConditionInit {
  if (phase === "Succeeded")
    return { type: "Succeeded", status: "True", reason: "Serving", message: "The instance serves the restored data" };
  if (phase === "Failed") return { type: "Succeeded", status: "False", reason: "Failed", message };
  return { type: "Succeeded", status: "Unknown", reason: phase, message };
}
