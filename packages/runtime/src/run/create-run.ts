/** Makes the context of one run out of its reader, its writers and its ledger. */
import { isForbidden, type KubeObject, type SetpointError } from "@setpoint/apimachinery";
import { isOutcomeUnknown, type Stored } from "@setpoint/client";
import { TerminalError } from "../errors.ts";
import { ChildSet } from "../writes/child-set.ts";
import { ChildWriter } from "../writes/child-writer.ts";
import { Effects } from "../writes/effects.ts";
import { LedgerKeeper } from "../writes/ledger-keeper.ts";
import type { Parent } from "../writes/place-child.ts";
import { Procedure } from "../writes/procedure.ts";
import type { ControllerDefinition } from "../controller/controller-definition.ts";
import type { Effect, ReconcileContext, StepOptions } from "../controller/reconcile-context.ts";
import { sleepUntil } from "../controller/sleep-until.ts";
import { awaitChange, requeueAfter, type Result } from "../controller/result.ts";
import type { WritePorts } from "../writes/write-ports.ts";
import { RunReader } from "../writes/run-reader.ts";
import { unlessRefused } from "../status/unless-refused.ts";
import { declaresStatusField, hasConditions } from "../controller/status-field.ts";
import { StatusWriter } from "../status/status-writer.ts";
import { storeKey } from "../cache/store.ts";
import type { StepMemory } from "../controller/step-memory.ts";
import type { WorkQueue } from "../queue/work-queue.ts";
import { ContextCalls } from "./context-calls.ts";
import type { KeyState } from "./key-state.ts";
import { RunReport } from "./run-report.ts";

/** The name of the controller in events. */
function eventSourceOf({ name, eventSource }: Pick<ControllerDefinition, "name" | "eventSource">): string {
  return eventSource ?? name;
}

/** What a run is given by its controller. */
export interface RunPorts extends WritePorts {
  readonly state: KeyState;
  readonly queue: Pick<WorkQueue, "addAfter">;
  /** A call on the context has failed after the run's end, and nothing handled the failure. */
  failedLate(this: void, error: SetpointError): void;
}

export interface Run {
  readonly context: ReconcileContext;
  /** The author's calls on the context. */
  readonly calls: ContextCalls;
  /** What is remembered of the plan of the object. */
  readonly steps: StepMemory;
  readonly report: RunReport;
  /** The reconciled object as it is now, own writes included. */
  current(this: void): Stored<KubeObject>;
  /** When to come back to the step that waits; undefined when none does. */
  waitsFor(this: void): Result | undefined;
}

export function createRun(object: Stored<KubeObject>, ports: RunPorts): Run {
  const { definition, client, host, log, signal, assertMayWrite } = ports;
  const parent: Parent = { kind: definition.kind, object };
  const reader = new RunReader(parent, ports);
  const writer = new ChildWriter(parent, ports, reader);
  const children = new ChildSet(parent, ports, reader, writer);
  const status = statusWriter(parent, ports, reader, writer);
  const saysConditions = declaresStatusField(definition.kind, "conditions");
  const keeper = ledgerKeeper(parent, ports, reader, writer);
  const { uid } = object.metadata;
  const effects = new Effects({
    ...{ keeper, controller: definition.name, uid, signal, assertMayWrite },
    changesOutside: ports.info.changesOutside,
  });
  const procedure = new Procedure({
    keeper,
    generation: object.metadata.generation,
    announce: async (condition) => {
      if (!saysConditions) return;
      status.condition(condition);
      // What is only said must not keep the step from being done; the end of the run says it again, and fails
      // with it.
      await status.flush().catch(unlessRefused);
    },
  });
  const event: ReconcileContext["event"] = (type, reason, message, about = object) =>
    ports.events.record(about, eventSourceOf(definition), { type, reason, message });

  const calls = new ContextCalls({ clock: host.clock, signal, failedLate: ports.failedLate });
  const context = calls.follow({
    signal,
    log,
    host: { clock: host.clock, random: host.random, sleep: sleepUntil(host.clock, signal) },
    client,
    controller: ports.info,
    get: (kind, name, namespace) => reader.get(kind, name, namespace),
    list: (kind, options) => reader.list(kind, options),
    fresh: (kind, name, namespace) => reader.fresh(kind, name, namespace),
    apply: async (child, options) => {
      if (options?.owner !== false) children.want(child);
      return writer.apply(child, options);
    },
    children: {
      list: (kind) => reader.owned(kind),
      apply: (wanted, options) => children.apply(wanted, options),
      prune: () => children.prune(),
    },
    create: (child, options) => writer.create(child, options),
    patch: (target, change, options) => writer.patch(target, change, options),
    delete: (target, options) => writer.delete(target, options),
    status: (wanted) => status.replace(wanted),
    condition: (...conditions) => {
      if (conditions.length > 0 && !hasConditions(definition.kind)) throw withoutConditions(definition.kind.kind);
      for (const condition of conditions) status.condition(condition);
    },
    event,
    // JsonOf has checked that the results are JSON.
    effect: <R>(id: string, effect: Effect<R>) => effects.effect(id, effect as Effect<never>),
    step: <R>(name: string, run: () => Promise<R | Result>, options: StepOptions = {}) =>
      procedure.step(name, run as () => Promise<never>, options),
    awaitChange,
    requeueAfter,
  });
  const report = new RunReport({
    ...ports,
    status,
    event,
    current: () => reader.current(),
    owned: (kind) => reader.owned(kind),
    isRefusedWrite: (error) => writer.refusals.has(error),
    finishedSteps: () => procedure.finished(),
    checkAfter: (delayMs) => ports.queue.addAfter(storeKey(object.metadata), delayMs),
  });
  return {
    context,
    calls,
    steps: ports.state,
    report,
    current: () => reader.current(),
    waitsFor: () => procedure.waitsFor,
  };
}

function statusWriter(
  { kind, object }: Parent,
  ports: RunPorts,
  reader: RunReader,
  children: ChildWriter,
): StatusWriter {
  const { definition, client, host, log, signal, memory, writes } = ports;
  return new StatusWriter({
    kind,
    fieldManager: definition.fieldManager,
    client,
    clock: host.clock,
    log,
    signal,
    memory,
    generation: object.metadata.generation,
    health: definition.health,
    current: () => reader.current(),
    ask: async () => {
      const { name, namespace, uid } = object.metadata;
      const now = await reader.fresh(kind, name, namespace);
      if (now?.metadata.uid !== uid) return undefined;
      writes.learned(kind, now);
      return now;
    },
    write: async (send) => {
      try {
        const written = await send();
        writes.written(kind, written);
        children.metParent();
        return written;
      } catch (error) {
        if (isOutcomeUnknown(error)) writes.unknown(kind, object);
        // The status goes on to say what it said before: an event is all that the user sees.
        if (isForbidden(error))
          ports.events.record(object, eventSourceOf(definition), {
            type: "Warning",
            reason: "Forbidden",
            message: error.message,
          });
        throw error;
      }
    },
  });
}

function ledgerKeeper({ kind, object }: Parent, ports: RunPorts, reader: RunReader, writer: ChildWriter): LedgerKeeper {
  const { definition, host, signal } = ports;
  const { name, namespace, uid } = object.metadata;
  return new LedgerKeeper({
    controller: definition.name,
    kind: kind.kind,
    isDeclared: definition.keepsLedger,
    clock: host.clock,
    signal,
    current: () => reader.current(),
    fresh: async () => {
      const now = await reader.fresh(kind, name, namespace);
      return now?.metadata.uid === uid ? now : undefined;
    },
    annotate: (target, annotations) => writer.patch(target, { metadata: { annotations } }, { unchanged: true }),
  });
}

/** The server would answer a 500 that names neither the kind's file nor the mistake. */
function withoutConditions(kind: string): TerminalError {
  return new TerminalError(
    `Cannot set a condition of ${kind}: its status has no field "conditions"; add \`conditions: conditions()\` to it`,
  );
}
