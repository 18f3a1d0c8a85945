/**
 * The priority of each key of a controller and the flow that it belongs to: what the author declares, else
 * the defaults.
 */
import type { KubeObject, NamespacedName } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import type { Logger } from "@setpoint/host";
import { guarded } from "../cache/guarded.ts";
import { priorities, type Priority } from "../queue/priority.ts";
import type { ControllerDefinition } from "../controller/controller-definition.ts";

export interface PriorityAndFairnessOptions {
  readonly definition: ControllerDefinition;
  readonly log: Logger;
  find(this: void, key: string): Stored<KubeObject> | undefined;
}

/**
 * Guarantees: neither question throws, whatever the author's functions do; informers ask them for every
 * change.
 */
export class PriorityAndFairness {
  readonly #find: PriorityAndFairnessOptions["find"];
  readonly #priority: ((object: Stored<KubeObject>) => Priority) | undefined;
  readonly #fairness: (object: Stored<KubeObject>) => string;

  constructor({ definition, log, find }: PriorityAndFairnessOptions) {
    const { priority, fairness = namespaceOf, kind } = definition;
    const told = log.with({ resource: kind.plural });
    this.#find = find;
    if (priority !== undefined) {
      const known = (object: Stored<KubeObject>): Priority => requireKnown(priority(object));
      this.#priority = guarded("priority", told, known, usualPriority);
    }
    this.#fairness = guarded("fairness", told, fairness, namespaceOf);
  }

  priorityOf(key: string): Priority {
    if (this.#priority === undefined) return "normal";
    const object = this.#find(key);
    return object === undefined ? "normal" : this.#priority(object);
  }

  flowOf(key: string): string {
    const object = this.#find(key);
    return object === undefined ? (parseKey(key).namespace ?? "") : this.#fairness(object);
  }
}

export function parseKey(key: string): NamespacedName {
  const slash = key.indexOf("/");
  return slash === -1 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

function usualPriority(): Priority {
  return "normal";
}

function requireKnown(priority: Priority): Priority {
  if (priorities.includes(priority)) return priority;
  throw new TypeError(`the priority is ${String(priority)}, expected ${priorities.join(", ")}`);
}

function namespaceOf({ metadata }: Stored<KubeObject>): string {
  return metadata.namespace ?? "";
}
