import { storeKey } from "../cache/store.ts";
import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import type { PlannedWrite } from "../writes/write-guard.ts";
import { appliedAnnotation } from "../objects/applied-mark.ts";

/** So often the same content is applied to the same child within the window before it is called a fight. */
const repeatsMax = 5;
const windowMs = 600_000;
/** The pace of a key that fights: the other side sees its value for a while, and the server is left in peace. */
const slowMs = 30_000;
/** Children of which is remembered what was applied to them last; the oldest is forgotten first. */
const childrenMax = 4_096;

interface Repeats {
  /** What was applied: the fingerprint of the wanted content. */
  mark: string;
  count: number;
  windowStartMs: number;
}

/** A child whose fields somebody else sets to something else again and again. */
export interface Fight {
  readonly kind: KindRef;
  readonly child: { readonly name: string; readonly namespace?: string };
  readonly generation: number | undefined;
  readonly untilMs: number;
  notBeforeMs: number;
  /** Who it is, when the server could say. */
  manager: string | undefined;
  isAsked: boolean;
  isTold: boolean;
}

/** Notices that a controller and somebody else set the same fields in turn: each sees the other's value and sets its own. */
export class FieldFights {
  readonly #repeats = new Map<string, Repeats>();
  /** By the key of the reconciled object. */
  readonly #fights = new Map<string, Fight>();

  get size(): number {
    return this.#fights.size;
  }

  of(key: string): Fight | undefined {
    return this.#fights.size === 0 ? undefined : this.#fights.get(key);
  }

  /** In how many milliseconds the key may run; a change of the object's spec ends the wait, and so does the end of the fight. */
  waitMs(key: string, object: KubeObject, nowMs: number): number {
    const fight = this.of(key);
    if (fight === undefined) return 0;
    const isOver = nowMs >= fight.untilMs || fight.generation !== object.metadata.generation;
    if (isOver) this.#fights.delete(key);
    return isOver ? 0 : Math.max(0, fight.notBeforeMs - nowMs);
  }

  release(key: string): boolean {
    return this.#fights.delete(key);
  }

  /** An apply that the cache showed to be needed, and that the server has done: one that it refuses takes nothing from anybody. */
  note(write: PlannedWrite, nowMs: number): void {
    const { verb, kind, object, isNew, parent } = write;
    if (verb !== "apply" || isNew) return;
    const mark = object.metadata.annotations?.[appliedAnnotation] ?? "";
    const id = `${kind.group}/${kind.kind}/${storeKey(object.metadata)}`;
    const before = this.#repeats.get(id);
    const isRepeat = before?.mark === mark && nowMs - before.windowStartMs < windowMs;
    const repeats = isRepeat ? before : { mark, count: 0, windowStartMs: nowMs };
    repeats.count++;
    this.#remember(id, repeats);
    if (repeats.count < repeatsMax) return;
    const { name = "", namespace } = object.metadata;
    const known = this.#fights.get(storeKey(parent.metadata));
    this.#fights.set(storeKey(parent.metadata), {
      ...{ kind, child: namespace === undefined ? { name } : { name, namespace } },
      ...{ generation: parent.metadata.generation, untilMs: nowMs + windowMs, notBeforeMs: nowMs + slowMs },
      ...{ manager: known?.manager, isAsked: known?.isAsked ?? false, isTold: known?.isTold ?? false },
    });
  }

  #remember(id: string, repeats: Repeats): void {
    this.#repeats.delete(id);
    this.#repeats.set(id, repeats);
    if (this.#repeats.size <= childrenMax) return;
    const oldest = this.#repeats.keys().next();
    if (oldest.done !== true) this.#repeats.delete(oldest.value);
  }
}

/** The other manager that wrote last, as the server's managedFields have it; undefined when there is none. */
export function otherManagerOf(child: KubeObject, ours: string): string | undefined {
  const others = (child.metadata.managedFields ?? []).filter(
    ({ manager, subresource }) => manager !== undefined && manager !== ours && (subresource ?? "") === "",
  );
  return others.toSorted((a, b) => (b.time ?? "").localeCompare(a.time ?? ""))[0]?.manager;
}
