import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import type { Cause, ChangeKind } from "./run-record.ts";

/** Causes kept of one key; more are counted. */
const causesMax = 8;

/** The changes that woke one key. */
export class CauseList {
  #causes: Cause[] = [];
  #moreCount = 0;

  get isEmpty(): boolean {
    return this.#causes.length === 0;
  }

  add(change: ChangeKind, kind: KindRef, object: KubeObject, atMs: number): void {
    if (this.#causes.length >= causesMax) return void this.#moreCount++;
    const { namespace, name = "", resourceVersion } = object.metadata;
    const last = this.#causes.at(-1);
    // The old and the new state of an object wake the same key.
    if (last?.resourceVersion === resourceVersion && last?.name === name && last.kind === kind) return;
    this.#causes.push({ change, kind, namespace, name, resourceVersion, atMs, writer: writerOf(object) });
  }

  /** The causes of a run that begins: the next run has others. */
  take(): { readonly causes: readonly Cause[]; readonly moreCauses: number } {
    const taken = { causes: this.#causes, moreCauses: this.#moreCount };
    this.#causes = [];
    this.#moreCount = 0;
    return taken;
  }

  peek(): readonly Cause[] {
    return this.#causes;
  }
}

function writerOf({ metadata: { managedFields = [] } }: KubeObject): string | undefined {
  const newest = managedFields.toSorted((a, b) => (a.time ?? "").localeCompare(b.time ?? "")).at(-1);
  return newest?.manager;
}
