/**
 * Stands beside the runs of one controller: decides which keys run here, and keeps why they ran and what they
 * did.
 */
import type { Transport } from "@setpoint/apimachinery";
import type { Client } from "@setpoint/client";
import type { Host, Span } from "@setpoint/host";
import { reasonOf, RunHistory, type BegunRun, type RunRecorder } from "../run/run-history.ts";
import type { Cause, WriteRecord } from "../run/run-record.ts";
import type { BegunKeyRun, OnAnswer, RunSupervisor, RunVerdict, SupervisedRun } from "../run/run-supervisor.ts";
import type { KeyOwnership, RunPermit } from "../coordination/key-ownership.ts";
import { RunTransport } from "../run/run-transport.ts";

export interface ControllerSupervisorOptions {
  readonly controller: string;
  readonly host: Host;
  /** The way to the server, which the whole manager's fence guards already. */
  readonly transport: Transport;
  readonly ownership: KeyOwnership;
  /** The whole manager's fence: throws when this process may not write. */
  assertMayWrite(this: void): void;
  createClient(this: void, transport: Transport): Client;
}

export class ControllerSupervisor implements RunSupervisor {
  readonly history: RunHistory = new RunHistory();
  readonly #options: ControllerSupervisorOptions;

  constructor(options: ControllerSupervisorOptions) {
    this.#options = options;
  }

  mayRun(key: string): boolean {
    return this.#options.ownership.mayRun(key);
  }

  begin(run: BegunKeyRun, onAnswer: OnAnswer): SupervisedRun {
    const { host, transport, ownership, createClient, controller } = this.#options;
    const { clock, tracer } = host;
    const { assertMayWrite: assertManagerMayWrite } = this.#options;
    const begun: BegunRun = { ...run, startedMs: clock.now() };
    const record = this.history.begin(begun);
    const permit = ownership.begin(run.key);
    const span = tracer?.startSpan(`reconcile ${controller}`, { attributes: attributesOf(controller, begun) });
    const assertMayWrite = (): void => permit.assertMayWrite();
    const way = new RunTransport({
      inner: transport,
      clock,
      record,
      assertMayWrite,
      onAnswer,
      tracer,
      span,
    });
    permit.follow(way);
    return {
      client: createClient(way),
      signal: permit.signal,
      assertMayWrite() {
        assertManagerMayWrite();
        assertMayWrite();
      },
      ended: (verdict) => this.#end(record, verdict, permit, span),
    };
  }

  accompany(key: string): Pick<SupervisedRun, "client" | "signal"> & { ended(): void } {
    const { host, transport, ownership, createClient } = this.#options;
    const permit = ownership.begin(key);
    const assertMayWrite = (): void => permit.assertMayWrite();
    // What daemons write is no run's doing.
    const record = { write: ignoredWrite };
    const ports = { inner: transport, clock: host.clock, record, assertMayWrite };
    const way = new RunTransport({ ...ports, tracer: host.tracer, span: undefined });
    permit.follow(way);
    return { client: createClient(way), signal: permit.signal, ended: () => permit.ended() };
  }

  #end(record: RunRecorder, verdict: RunVerdict, permit: RunPermit, span: Span | undefined): void {
    record.end(verdict, this.#options.host.clock.now());
    permit.ended();
    if (span === undefined) return;
    const reason = reasonOf(verdict);
    span.set({ "setpoint.result": verdict.end, ...(reason === undefined ? {} : { "setpoint.reason": reason }) });
    span.end("error" in verdict ? verdict.error : undefined);
  }
}

function ignoredWrite(method: string, path: string): WriteRecord {
  return { method, path, status: undefined, resourceVersion: undefined };
}

function attributesOf(controller: string, run: BegunRun): Readonly<Record<string, string | number>> {
  const [first] = run.causes;
  return {
    controller,
    "k8s.object": run.key,
    reconcileID: run.reconcileID,
    "setpoint.causes": run.causes.length + run.moreCauses,
    ...(first === undefined
      ? {}
      : { "setpoint.cause": sentenceOf(first), "setpoint.waited_ms": run.startedMs - first.atMs }),
  };
}

function sentenceOf({ change, kind, namespace, name, writer }: Cause): string {
  const whose = writer === undefined ? "" : ` by ${writer}`;
  return `${kind.kind} ${namespace === undefined ? "" : `${namespace}/`}${name} ${change}${whose}`;
}
