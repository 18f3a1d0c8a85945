import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import type { ChangeKind } from "./run-supervisor.ts";
import type { Cause } from "./run-record.ts";

/** Keys whose causes are kept until they run; those of more keys are not. */
const keysMax = 10_000;
/** Causes kept of one key; more are counted. */
const causesMax = 8;

interface Collected {
  readonly causes: Cause[];
  more: number;
}

const nothing: Collected = { causes: [], more: 0 };

/** What woke the keys that wait to run. */
export class CauseCollector {
  readonly #waiting = new Map<string, Collected>();

  add(key: string, change: ChangeKind, kind: KindRef, object: KubeObject, atMs: number): void {
    let collected = this.#waiting.get(key);
    if (collected === undefined) {
      if (this.#waiting.size >= keysMax) return;
      collected = { causes: [], more: 0 };
      this.#waiting.set(key, collected);
    }
    if (collected.causes.length >= causesMax) return void collected.more++;
    const { namespace, name = "", resourceVersion } = object.metadata;
    const last = collected.causes.at(-1);
    // The old and the new state of an object wake the same key.
    if (last !== undefined && last.resourceVersion === resourceVersion && last.name === name && last.kind === kind)
      return;
    collected.causes.push({ change, kind, namespace, name, resourceVersion, atMs, writer: writerOf(object) });
  }

  /** The causes of a key that begins to run. */
  take(key: string): { readonly causes: readonly Cause[]; readonly more: number } {
    const collected = this.#waiting.get(key);
    if (collected === undefined) return nothing;
    this.#waiting.delete(key);
    return collected;
  }

  peek(key: string): readonly Cause[] {
    return this.#waiting.get(key)?.causes ?? [];
  }
}

function writerOf({ metadata: { managedFields } }: KubeObject): string | undefined {
  if (managedFields === undefined) return undefined;
  let newest: (typeof managedFields)[number] | undefined;
  for (const entry of managedFields) if ((entry.time ?? "") >= (newest?.time ?? "")) newest = entry;
  return newest?.manager;
}
