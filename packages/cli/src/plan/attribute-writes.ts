/** Finds out which reconcile makes a write, and what the reconcile says about why. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { ObjectPlace } from "@setpoint/client";
import type { Logger } from "@setpoint/host";
import type { Operator } from "setpoint";

/** One run of a key, as it explains itself. */
export interface RunNote {
  readonly controller: string;
  /** The reconciled object: `default/web`. */
  readonly key: string;
  /** What it said in events and in its log, in its order. */
  readonly reasons: string[];
}

type Definition = Operator["controllers"][number];
type Context = Parameters<Definition["reconcile"]>[1];
type Reconciled = Parameters<Definition["reconcile"]>[0];

/** Reasons kept of one run. */
const reasonsMax = 8;

export class WriteAttribution {
  readonly #running = new AsyncLocalStorage<RunNote>();
  readonly #latest = new Map<string, RunNote>();
  readonly operator: Operator;

  readonly #onRun: (run: RunNote) => void;

  /** `operator` of the result must be run in place of the one given; `onRun` hears of each run's begin. */
  constructor(operator: Operator, onRun: (run: RunNote) => void) {
    this.#onRun = onRun;
    this.operator = { ...operator, controllers: operator.controllers.map((each) => this.#observed(each)) };
  }

  /** The run in which this is called. */
  running(): RunNote | undefined {
    return this.#running.getStore();
  }

  /** The run in which this is called; else the last run of the object that is written. */
  noteFor({ group, resource, namespace, name }: ObjectPlace): RunNote | undefined {
    return this.#running.getStore() ?? this.#latest.get(`${group}/${resource}/${namespace}/${name}`);
  }

  #observed(definition: Definition): Definition {
    const run =
      (inner: Definition["reconcile"]): Definition["reconcile"] =>
      (object, context, steps) => {
        const note = this.#begin(definition, object);
        return this.#running.run(note, () => inner(object, observed(context, note), steps));
      };
    return { ...definition, reconcile: run(definition.reconcile), cleanup: run(definition.cleanup) };
  }

  #begin({ name, kind }: Definition, object: Reconciled): RunNote {
    const { namespace = "", name: own } = object.metadata;
    const note = { controller: name, key: namespace === "" ? own : `${namespace}/${own}`, reasons: [] };
    // What is written after the reconcile (its status) and before it (its finalizer) is about its own object.
    this.#onRun(note);
    this.#latest.set(`${kind.group}/${kind.plural}/${namespace}/${own}`, note);
    return note;
  }
}

function observed(context: Context, note: RunNote): Context {
  const add = (reason: string): void => {
    if (note.reasons.length < reasonsMax && !note.reasons.includes(reason)) note.reasons.push(reason);
  };
  return {
    ...context,
    log: observedLog(context.log, add),
    event(type, reason, message, about) {
      add(message);
      context.event(type, reason, message, about);
    },
  };
}

/** Lines that give a reason, as those of a planned step do. */
function observedLog(log: Logger, add: (reason: string) => void): Logger {
  const noting =
    (level: "debug" | "info" | "warn" | "error"): Logger["info"] =>
    (message, fields) => {
      const reason = fields?.["reason"];
      if (typeof reason === "string" && reason !== "") add(reason);
      log[level](message, fields);
    };
  return {
    debug: noting("debug"),
    info: noting("info"),
    warn: noting("warn"),
    error: noting("error"),
    with: (fields) => observedLog(log.with(fields), add),
  };
}
