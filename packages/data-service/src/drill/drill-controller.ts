/** Reconciles RestoreDrills of one engine. */
import type { ConditionInit, KubeObject, ReconcileContext, Result, Stored } from "setpoint";
import { controller, isAlreadyExists, keyOf, seconds, watching } from "setpoint";
import type { EngineControl } from "../engine/control.ts";
import { Backup } from "../kinds/backup.ts";
import { scheduledAt } from "../kinds/labels.ts";
import { Restore } from "../kinds/restore.ts";
import { RestoreDrill } from "../kinds/restore-drill.ts";
import { selectionOf } from "../kinds/selection.ts";
import { drillMetrics } from "./drill-metrics.ts";
import { decideDrill, type DrillActions, type DrillStatus, type SeenDrill } from "./decide-drill.ts";

const checkMs = seconds(5);

/** The controller of RestoreDrills whose instances are of this engine; it ignores all others. */
export function drillController<Instance extends KubeObject>(
  engine: EngineControl<Instance>,
): ReturnType<typeof controller> {
  return controller<RestoreDrill, SeenDrill, DrillActions>(RestoreDrill, {
    name: `${engine.name}-restore-drill`,
    select: { fieldSelector: selectionOf(engine.kind) },
    objectMetrics: drillMetrics,
    owns: [Restore],
    watches: [
      Backup,
      watching<KubeObject>(engine.kind, (instance, cache) =>
        cache
          .list(RestoreDrill, { namespace: instance.metadata.namespace })
          .filter(({ metadata }) => instance.metadata.name.startsWith(`${metadata.name}-`))
          .map(keyOf),
      ),
    ],
    observe: (drill, context) => observeDrill(drill, context, engine),
    plan: (seen) => decideDrill(seen).step,
    status: (seen) => decideDrill(seen).status,
    conditions: (seen) => [drilled(decideDrill(seen).status)],
    actions: {
      createRestore,
      async reportFailure({ message }, { event }) {
        event("Warning", "DrillFailed", message);
      },
      async deleteInstance(_, context, { restore }) {
        if (restore !== undefined) await deleteInstanceOf(restore, context, engine);
        return context.requeueAfter(checkMs, "the throw-away instance is being deleted");
      },
      async deleteRestore(_, context, { restore }) {
        if (restore !== undefined) await context.delete(restore);
        return context.requeueAfter(checkMs, "the Restore of the drill is being deleted");
      },
    },
    async cleanup(drill, context) {
      for (const restore of context.children.list(Restore)) await deleteInstanceOf(restore, context, engine);
    },
  });
}

function observeDrill<Instance extends KubeObject>(
  drill: Stored<RestoreDrill>,
  { list, children, get, host: { clock } }: ReconcileContext,
  engine: EngineControl<Instance>,
): SeenDrill {
  const { namespace = "" } = drill.metadata;
  const { name } = drill.spec.instance;
  const [restore] = children.list(Restore).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const instance = restore === undefined ? undefined : get(engine.kind, restore.metadata.name, namespace);
  return {
    drill,
    nowMs: clock.now(),
    backups: list(Backup).filter(
      ({ spec }) => isOf(engine, spec.instance) && spec.instance.name === name && spec.external === undefined,
    ),
    restore,
    hasInstance: instance !== undefined && instance.metadata.uid === restore?.status?.instanceUID,
  };
}

function isOf<Instance extends KubeObject>(
  { kind }: EngineControl<Instance>,
  instance: RestoreDrill["spec"]["instance"],
): boolean {
  return instance.kind === kind.kind && instance.apiGroup === kind.group;
}

async function createRestore(
  { name, scheduledAt: at, backup }: DrillActions["createRestore"],
  context: ReconcileContext,
  { drill }: SeenDrill,
): Promise<Result | void> {
  const { namespace = "" } = drill.metadata;
  const { instance, newInstanceSpec, deadlineSeconds } = drill.spec;
  // A status from before a restart may not have the last drill yet, and nothing may be left of it.
  const fresh = await context.fresh(RestoreDrill, drill.metadata.name, namespace);
  if ((fresh?.status?.lastScheduleTime ?? "") >= at) return context.requeueAfter(0, "the drill was made before");
  const restore = Restore({
    name,
    namespace,
    annotations: { [scheduledAt]: at },
    spec: {
      ...{ instance, source: { backup }, deadlineSeconds },
      newInstance: { name, ...(newInstanceSpec === undefined ? {} : { spec: newInstanceSpec }) },
    },
  });
  try {
    await context.create(restore);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** Only the instance that the Restore has created: another one of that name is a stranger. */
async function deleteInstanceOf<Instance extends KubeObject>(
  { metadata, status }: Stored<Restore>,
  context: ReconcileContext,
  engine: EngineControl<Instance>,
): Promise<void> {
  const instance = context.get(engine.kind, metadata.name, metadata.namespace);
  if (instance === undefined || instance.metadata.uid !== status?.instanceUID) return;
  if (instance.metadata.deletionTimestamp === undefined) await context.delete(instance);
}

function drilled({ lastOutcome, history = [] }: DrillStatus): ConditionInit {
  const [last] = history;
  if (lastOutcome === undefined || last === undefined)
    return { type: "Drilled", status: "Unknown", reason: "NoDrillYet", message: "no drill has ended yet" };
  if (lastOutcome === "Failed")
    return { type: "Drilled", status: "False", reason: "DrillFailed", message: last.message ?? "the drill failed" };
  const message = `Backup "${last.backup}" served after ${last.recoverySeconds} s`;
  return { type: "Drilled", status: "True", reason: "DrillSucceeded", message };
}
