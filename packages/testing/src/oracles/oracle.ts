/** Rules that a run must keep, each with a name by which it is chosen. */
import type { KubeObject, UnstructuredObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { LogLine } from "@setpoint/host/simulated";
import type { ControllerDefinition } from "@setpoint/runtime";
import type { Fault } from "../faults/fault.ts";
import type { Hop } from "../onlooker.ts";
import type { WorldModel } from "../program-model.ts";
import type { EndState } from "./end-state.ts";
import type { ObjectName } from "../world.ts";

/** A world as an oracle sees it: everything that is stored, without a request. */
export interface WorldView {
  /** Virtual time, in milliseconds. */
  readonly nowMs: number;
  get<T extends KubeObject>(kind: KindRef<T>, name: ObjectName): Stored<T> | undefined;
  /** All of the kind, in all namespaces. */
  list<T extends KubeObject>(kind: KindRef<T>): readonly Stored<T>[];
  readonly models: readonly WorldModel[];
  readonly controllers: readonly ControllerDefinition[];
  /** The names of the operators' processes, as in the trace. */
  readonly operators: readonly string[];
  readonly logs: readonly LogLine[];
  /** The faults of the run, also those that have not struck yet. */
  readonly faults: readonly Fault[];
  readonly hops: readonly Hop[];
}

/** One object changed; `next` is absent after its deletion, `previous` before its creation. */
export interface Change {
  readonly kind: KindRef;
  readonly previous: UnstructuredObject | undefined;
  readonly next: UnstructuredObject | undefined;
}

/** How a run ended. */
export interface RunEnd {
  readonly faults: readonly Fault[];
  /** Undefined when the world settled, else why not. */
  readonly unsettled: string | undefined;
  /** Requests in the time of rest; empty when all was quiet. */
  readonly loud: readonly string[];
  readonly quietHours: number;
  /**
   * Whether a user added an item to a list of a child (E2 of a key). An apply leaves it there, and objects
   * made from the child have it.
   */
  readonly hasForeignItems: boolean;
  readonly end: Ending;
  /** The same of the run without faults; absent when this is it. */
  readonly reference: Reference | undefined;
}

/** The result of a run. */
export interface Ending {
  readonly state: EndState;
  /** What the operators created and deleted, and how often: `create default/pods/orders-*`. */
  readonly summary: ReadonlyMap<string, number>;
}

export interface Reference extends Ending {
  /** Paths whose values are random. */
  readonly chance: ReadonlySet<string>;
}

/** One run's judge. Each method says which rule was broken, in a sentence, or nothing. */
export interface Judge {
  /** After every request, when the server has executed it. */
  passed?(hop: Hop): string | undefined;
  /** After every change of an object of the operators' kinds. */
  changed?(change: Change): string | undefined;
  ended?(end: RunEnd): string | undefined;
}

/** A rule about runs. `judge` starts a fresh judge for each run. */
export interface Oracle {
  readonly name: string;
  judge(view: WorldView): Judge;
}

/** A rule that broke in a run. */
export interface BrokenRule {
  readonly oracle: string;
  readonly sentence: string;
  readonly atMs: number;
}

/**
 * An author's own rule, checked after every write of any client. It returns true or undefined when the rule
 * holds, false or a sentence when it does not.
 */
export function invariant(name: string, holds: (view: WorldView) => boolean | string | undefined): Oracle {
  return {
    name,
    judge: (view) => ({
      passed({ kind, what, who }) {
        if (kind !== "write") return undefined;
        const verdict = holds(view);
        if (verdict === true || verdict === undefined) return undefined;
        return verdict === false ? `it does not hold after ${who}: ${what}` : verdict;
      },
    }),
  };
}
