/** The controller of Operations for one engine. */
import type { KubeObject } from "@setpoint/apimachinery";
import { timestampAt } from "@setpoint/host";
import {
  controller,
  keyOf,
  type KindRef,
  type ReconcileContext,
  type Result,
  seconds,
  type Stored,
  watching,
} from "setpoint";
import type { PolicyRule } from "setpoint/install";
import { Operation, type OperationType } from "../kinds/operation.ts";
import type { MaintenanceWindow } from "./maintenance-window.ts";
import {
  isEnded,
  type OperationReport,
  type OperationStep,
  planOperation,
  type SeenOperation,
  windowWait,
} from "./operation-step.ts";

/** What an engine is asked to do. */
export interface OperationRequest {
  /** The UID of the Operation: the same for every step of one operation. */
  readonly id: string;
  readonly type: OperationType;
  readonly member?: string | undefined;
  /** For Fence: whether too few members may be left. */
  readonly allowQuorumLoss?: boolean | undefined;
}

/** Long operations on the instances of an engine. */
export interface EngineOperations<Instance extends KubeObject> {
  /** Such as "etcd". */
  readonly name: string;
  readonly kind: KindRef<Instance>;
  /** What the engine can do. */
  readonly types: readonly OperationType[];
  /** Those that interrupt clients, and so wait for a maintenance window. */
  readonly disruptive: readonly OperationType[];
  windows(instance: Stored<Instance>): readonly MaintenanceWindow[];
  /**
   * Does the next step and reports. It is called until it reports an end. Each call is idempotent: an
   * operator that restarts calls it again.
   */
  advance(instance: Stored<Instance>, request: OperationRequest, context: ReconcileContext): Promise<OperationReport>;
  /** Stops an operation in progress, as far as that is possible; what is done stays done. */
  cancel?(instance: Stored<Instance>, request: OperationRequest, context: ReconcileContext): Promise<void>;
}

/** What a controller of operations needs beyond what follows from its declaration. */
export const operationRules: readonly PolicyRule[] = [
  { apiGroups: [Operation.group], resources: [Operation.plural], verbs: ["delete"] },
];

type Status = Omit<NonNullable<Operation["status"]>, "conditions">;

/**
 * Carries out Operations on the engine's instances, one at a time an instance. Hand `operationRules` to
 * `permissions`.
 */
export function operations<Instance extends KubeObject>(
  engine: EngineOperations<Instance>,
): ReturnType<typeof controller> {
  const { group, kind } = engine.kind;
  const select = { fieldSelector: `spec.instance.apiGroup=${group},spec.instance.kind=${kind}` };
  return controller(Operation, {
    name: `${engine.name}-operations`,
    select,
    watches: [
      watching(engine.kind, ({ metadata: { name, namespace } }, cache) =>
        cache
          .list(Operation, { namespace })
          .filter(({ spec }) => spec.instance.name === name)
          .map(keyOf),
      ),
    ],
    reconcile: (operation, context) => reconcileOperation(operation, context, engine),
  });
}

async function reconcileOperation<Instance extends KubeObject>(
  cached: Stored<Operation>,
  context: ReconcileContext,
  engine: EngineOperations<Instance>,
): Promise<Result | void> {
  const { name, namespace } = cached.metadata;
  const instance = context.get(engine.kind, cached.spec.instance.name, namespace);
  const planned = planOperation(seenOperation(cached, instance, context, engine), context.host.clock.now());
  if (planned.kind === "ended") return finish(cached, planned.deleteInMs, context);
  // The cache may be late: what has ended must not begin again.
  const operation = await context.fresh(Operation, name, namespace);
  if (operation?.metadata.uid !== cached.metadata.uid) return context.awaitChange();
  const step = planOperation(seenOperation(operation, instance, context, engine), context.host.clock.now());
  return perform(step, operation, instance, context, engine);
}

async function perform<Instance extends KubeObject>(
  step: OperationStep,
  operation: Stored<Operation>,
  instance: Stored<Instance> | undefined,
  context: ReconcileContext,
  engine: EngineOperations<Instance>,
): Promise<Result | void> {
  if (step.kind === "ended") return finish(operation, step.deleteInMs, context);
  if (step.kind === "end") {
    const { phase, reason, message } = step;
    return report(operation, { phase, reason, message, finished: true }, context);
  }
  if (step.kind === "wait") {
    await report(operation, { phase: "Pending", reason: step.reason, message: step.message }, context);
    return context.requeueAfter(step.delayMs, step.message);
  }
  if (instance === undefined) return context.awaitChange();
  const { uid } = instance.metadata;
  const { type, member, allowQuorumLoss } = operation.spec;
  const request = { id: operation.metadata.uid, type, member, allowQuorumLoss };
  if (step.kind === "cancel") {
    await engine.cancel?.(instance, request, context);
    const message = "It was cancelled while it was in progress; what was done stays done";
    return report(operation, { phase: "Failed", reason: "Cancelled", message, finished: true }, context);
  }
  const startedAt = operation.status?.startedAt ?? timestampAt(context.host.clock.now());
  const begun: Change = { phase: "InProgress", instanceUID: uid, startedAt };
  if (step.kind === "begin") await report(operation, { ...begun, message: "It has begun" }, context);
  return tell(await engine.advance(instance, request, context), operation, begun, context);
}

async function tell(
  said: OperationReport,
  operation: Stored<Operation>,
  begun: Change,
  context: ReconcileContext,
): Promise<Result | void> {
  const { message } = said;
  if (said.state === "running") {
    const { progress } = said;
    await report(operation, { ...begun, message, ...(progress === undefined ? {} : { progress }) }, context);
    return context.requeueAfter(said.recheckMs, message);
  }
  const phase = ({ done: "Succeeded", failed: "Failed", rejected: "Rejected" } as const)[said.state];
  const reason = said.state === "done" ? "Done" : said.reason;
  return report(operation, { ...begun, phase, reason, message, finished: true }, context);
}

type Change = Partial<Status> & Pick<Status, "phase"> & { readonly finished?: boolean };

async function report(
  { status, metadata, spec }: Stored<Operation>,
  { finished = false, ...change }: Change,
  context: ReconcileContext,
): Promise<Result | void> {
  const { conditions: _conditions, ...before } = status ?? {};
  if (finished) context.event(change.phase === "Succeeded" ? "Normal" : "Warning", change.phase, change.message ?? "");
  const isReady = change.phase === "Succeeded";
  const reason = change.reason ?? change.phase;
  context.condition({ type: "Complete", status: isReady ? "True" : "False", reason, message: change.message ?? "" });
  await context.status({
    ...before,
    ...change,
    observedGeneration: metadata.generation,
    ...(finished ? { finishedAt: timestampAt(context.host.clock.now()) } : {}),
  });
  // Its own status does not run an object again.
  const { ttlSecondsAfterFinished: ttl } = spec;
  if (finished && ttl !== undefined) return context.requeueAfter(seconds(ttl), "it is deleted then");
}

async function finish(
  operation: Stored<Operation>,
  deleteInMs: number | undefined,
  context: ReconcileContext,
): Promise<Result | void> {
  if (deleteInMs === undefined) return context.awaitChange();
  if (deleteInMs > 0) return context.requeueAfter(deleteInMs, "it is deleted then");
  await context.delete(operation);
}

function seenOperation<Instance extends KubeObject>(
  { metadata, spec, status }: Stored<Operation>,
  instance: Stored<Instance> | undefined,
  context: ReconcileContext,
  engine: EngineOperations<Instance>,
): SeenOperation {
  const others = context
    .list(Operation)
    .filter((each) => each.spec.instance.name === spec.instance.name && !isEnded(each.status?.phase))
    .filter((each) => each.metadata.uid !== metadata.uid);
  const running = others.find((each) => each.status?.phase === "InProgress");
  const isDisruptive = (each: Operation["spec"]): boolean => engine.disruptive.includes(each.type);
  const windows = instance === undefined ? [] : engine.windows(instance);
  const isClosed = windowWait(windows, context.host.clock.now()) !== undefined;
  // One that waits for its window lets the others go first.
  const waits = (each: Operation["spec"]): boolean => isClosed && isDisruptive(each) && !each.ignoreWindows;
  const older = others.find((each) => orderOf(each) < orderOf({ metadata }) && !waits(each.spec));
  return {
    spec,
    status,
    instance: instance === undefined ? undefined : { uid: instance.metadata.uid, windows },
    isSupported: engine.types.includes(spec.type),
    isDisruptive: isDisruptive(spec),
    before: (running ?? older)?.metadata.name,
  };
}

/** Older ones first; of the same second, by name. */
function orderOf({ metadata }: Pick<Stored<Operation>, "metadata">): string {
  return `${metadata.creationTimestamp} ${metadata.name}`;
}
