import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import { storeKey } from "../cache/store.ts";
import { appliedAnnotation } from "../objects/applied-mark.ts";
import type { PlannedWrite } from "../writes/write-guard.ts";

/**
 * So often the same content is applied to the same child within the window before it is counted as a
 * conflict.
 */
const repeatsMax = 5;
const windowMs = 600_000;
/**
 * The pace of a key in such a conflict: the other manager sees its value for a while, and the server has less
 * to do.
 */
const slowMs = 30_000;
/** Children of which is remembered what was applied to them last; the oldest is forgotten first. */
const childrenMax = 4_096;

interface Repeats {
  /** What was applied: the fingerprint of the wanted content. */
  readonly mark: string;
  readonly count: number;
  readonly windowStartMs: number;
}

/** A child whose fields another manager sets to other values again and again. */
export interface FieldManagerConflict {
  readonly kind: KindRef;
  readonly child: { readonly name: string; readonly namespace?: string };
  readonly generation: number | undefined;
  readonly untilMs: number;
  readonly notBeforeMs: number;
  /** The other manager, once the server was asked; undefined when it could not say. */
  readonly manager?: string | undefined;
  readonly isReported: boolean;
}

/**
 * Notices that a controller and another manager set the same fields in turn: each sees the other's value and
 * sets its own.
 */
export class FieldManagerConflicts {
  readonly #repeats = new Map<string, Repeats>();

  /**
   * Counts an apply that the cache showed to be needed, and that the server has done: one that it refuses
   * takes nothing from anybody. Returns the conflict that the key is in after it.
   */
  afterWrite(
    write: PlannedWrite,
    before: FieldManagerConflict | undefined,
    nowMs: number,
  ): FieldManagerConflict | undefined {
    const { verb, kind, object, isNew, parent } = write;
    if (verb !== "apply" || isNew) return before;
    const mark = object.metadata.annotations?.[appliedAnnotation] ?? "";
    const id = `${kind.group}/${kind.kind}/${storeKey(object.metadata)}`;
    const last = this.#repeats.get(id);
    const isRepeat = last?.mark === mark && nowMs - last.windowStartMs < windowMs;
    const repeats = isRepeat ? { ...last, count: last.count + 1 } : { mark, count: 1, windowStartMs: nowMs };
    this.#remember(id, repeats);
    if (repeats.count < repeatsMax) return before;
    const { name = "", namespace } = object.metadata;
    return {
      kind,
      child: namespace === undefined ? { name } : { name, namespace },
      generation: parent.metadata.generation,
      untilMs: nowMs + windowMs,
      notBeforeMs: nowMs + slowMs,
      manager: before?.manager,
      isReported: before?.isReported ?? false,
    };
  }

  #remember(id: string, repeats: Repeats): void {
    this.#repeats.delete(id);
    this.#repeats.set(id, repeats);
    if (this.#repeats.size <= childrenMax) return;
    const oldest = this.#repeats.keys().next();
    if (oldest.done !== true) this.#repeats.delete(oldest.value);
  }
}

/** Whether a conflict has ended: its time is over, or the object's spec has changed. */
export function isConflictOver(conflict: FieldManagerConflict, object: KubeObject, nowMs: number): boolean {
  return nowMs >= conflict.untilMs || conflict.generation !== object.metadata.generation;
}

/** The other manager that wrote last, as the server's managedFields have it; undefined when there is none. */
export function otherManagerOf(child: KubeObject, ours: string): string | undefined {
  const others = (child.metadata.managedFields ?? []).filter(
    ({ manager, subresource }) => manager !== undefined && manager !== ours && (subresource ?? "") === "",
  );
  return others.toSorted((a, b) => (b.time ?? "").localeCompare(a.time ?? ""))[0]?.manager;
}
