import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import type { Logger } from "@setpoint/host";
import type { DaemonRunner } from "../handlers/daemons.ts";
import type { Protections } from "../protection/protections.ts";
import type { ControllerMetrics } from "./controller-metrics.ts";
import { createRun } from "./create-context.ts";
import type { DueKeys } from "./due-keys.ts";
import type { OwnWrites } from "../writes/own-writes.ts";
import { reconcileObject } from "./reconcile-object.ts";
import { RunDeadline } from "./run-deadline.ts";
import type { RunEnds } from "./run-ends.ts";
import type { RunPorts } from "../writes/run-ports.ts";
import type { OnAnswer, RunSupervisor, RunVerdict } from "./run-supervisor.ts";
import { declaresStatusField } from "../controller/status-field.ts";
import type { Workers } from "./workers.ts";

/** The parts of the controller that a run needs, or that are told of it. */
export interface KeyRunsOptions {
  /** What all runs are given. */
  readonly ports: Pick<RunPorts, "definition" | "cluster" | "host" | "cache" | "memory" | "events">;
  readonly supervisor: Pick<RunSupervisor, "mayRun" | "begin">;
  readonly metrics: Pick<ControllerMetrics, "started" | "ended" | "timedOut">;
  readonly protections: Protections;
  readonly daemons: Pick<DaemonRunner, "ensure" | "stop"> | undefined;
  readonly ends: Pick<RunEnds, "succeeded" | "failed">;
  readonly workers: Pick<Workers, "activeCount">;
  readonly dueKeys: Pick<DueKeys, "pass">;
  find(this: void, key: string): Stored<KubeObject> | undefined;
}

/** One run of a key. */
export interface KeyRun {
  readonly key: string;
  readonly reconcileID: string;
  readonly writes: OwnWrites;
  readonly log: Logger;
  /** Gives its worker to another key. */
  free(this: void): void;
}

/** The runs of a controller, each from the object in the cache to the verdict. */
export class KeyRuns {
  readonly #options: KeyRunsOptions;
  readonly #saysConditions: boolean;

  constructor(options: KeyRunsOptions) {
    this.#options = options;
    this.#saysConditions = declaresStatusField(options.ports.definition.kind, "conditions");
  }

  /** How the run ended; undefined when there is nothing to run: the object is gone, or the key is another process's by now. */
  async run({ key, reconcileID, writes, log, free }: KeyRun): Promise<RunVerdict | undefined> {
    const { find, ports: shared, supervisor, metrics, protections, daemons, workers, dueKeys } = this.#options;
    const { clock } = shared.host;
    const object = find(key);
    if (object === undefined) return undefined;
    if (protections.isFighting(key)) await protections.beforeRun(key, object);
    const isDeleting = object.metadata.deletionTimestamp !== undefined;
    if (isDeleting && daemons !== undefined) await daemons.stop(key);
    // Meanwhile it may have become another's, who has been told already that nothing of it runs here.
    if (!supervisor.mayRun(key)) {
      dueKeys.pass(key);
      return undefined;
    }
    if (!isDeleting) daemons?.ensure(key, object);
    const startedMs = clock.monotonic();
    metrics.started(workers.activeCount);
    const onAnswer: OnAnswer = (request, answer) => writes.answered(request, answer);
    const supervised = supervisor.begin(key, reconcileID, onAnswer);
    const deadline = this.#deadline(supervised.signal, log, free);
    const { definition, cluster, host, cache, memory, events } = shared;
    const ports: RunPorts = {
      definition,
      cluster,
      host,
      cache,
      memory,
      events,
      client: supervised.client,
      signal: deadline?.signal ?? supervised.signal,
      assertMayWrite: supervised.assertMayWrite,
      writes,
      log,
      guard: protections,
    };
    const verdict = await this.#reconcile(key, object, ports);
    deadline?.end();
    supervised.ended(verdict);
    // Its worker is free from now on, unless it was given to others already.
    const activeCount = deadline?.isIgnored === true ? workers.activeCount : workers.activeCount - 1;
    metrics.ended(verdict.end, clock.monotonic() - startedMs, activeCount);
    return verdict;
  }

  #deadline(signal: AbortSignal, log: Logger, free: () => void): RunDeadline | undefined {
    const { ports, metrics } = this.#options;
    const { timeoutMs } = ports.definition;
    if (timeoutMs === undefined) return undefined;
    const { clock } = ports.host;
    const onIgnored = (): void => {
      log.error("Reconcile does not end; its worker is given to others, its key is not");
      free();
    };
    return new RunDeadline({ clock, timeoutMs, signal, onTimeout: () => metrics.timedOut(), onIgnored });
  }

  async #reconcile(key: string, object: Stored<KubeObject>, ports: RunPorts): Promise<RunVerdict> {
    const { protections, ends } = this.#options;
    const run = createRun(object, ports);
    const notice = this.#saysConditions ? protections.conditionOf(key, object) : undefined;
    if (notice !== undefined) run.context.condition(notice);
    try {
      const result = await reconcileObject(ports.definition, object, run);
      return ends.succeeded(key, result);
    } catch (error) {
      return ends.failed(key, error, ports.signal, ports.log);
    }
  }
}
