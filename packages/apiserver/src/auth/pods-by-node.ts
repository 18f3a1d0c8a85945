import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { ObjectReader } from "../registry/object-reader.ts";
import { stringAt } from "../registry/json-fields.ts";
import type { Storage, StorageEvent } from "../storage/storage.ts";

export interface PodsByNodeOptions {
  readonly reader: ObjectReader;
  readonly storage: Pick<Storage, "watch" | "revision">;
}

/**
 * The pods bound to each node. It follows the storage from before any client can watch it, so it knows a
 * binding before the node does.
 */
export class PodsByNode implements Disposable {
  /** By node, then by `namespace/name`. */
  readonly #pods = new Map<string, Map<string, UnstructuredObject>>();
  readonly #watch: { cancel(): void };

  constructor({ reader, storage }: PodsByNodeOptions) {
    const { revision } = storage;
    for (const pod of reader.list("", "pods")) this.#add(pathOf(pod), pod);
    this.#watch = storage.watch("/pods", revision, (event) => this.#onEvent(event));
  }

  /** Those bound to the node, in `namespace` when that is not empty. */
  of(node: string, namespace: string): readonly UnstructuredObject[] {
    const pods = [...(this.#pods.get(node)?.values() ?? [])];
    return namespace === "" ? pods : pods.filter((pod) => pod.metadata.namespace === namespace);
  }

  [Symbol.dispose](): void {
    this.#watch.cancel();
  }

  #onEvent({ kind, path, object, previous }: StorageEvent): void {
    if (previous !== undefined) this.#remove(path, previous);
    if (kind === "put") this.#add(path, object);
    else this.#remove(path, object);
  }

  #add(path: string, pod: UnstructuredObject): void {
    const node = stringAt(pod, "spec", "nodeName");
    if (node === "") return;
    const pods = this.#pods.get(node) ?? new Map<string, UnstructuredObject>();
    this.#pods.set(node, pods.set(path, pod));
  }

  #remove(path: string, pod: UnstructuredObject): void {
    const node = stringAt(pod, "spec", "nodeName");
    const pods = this.#pods.get(node);
    pods?.delete(path);
    if (pods?.size === 0) this.#pods.delete(node);
  }
}

function pathOf({ metadata }: UnstructuredObject): string {
  return `${metadata.namespace ?? ""}/${metadata.name ?? ""}`;
}
