import type { KubeObject } from "@setpoint/apimachinery";
import type { Client, KindRef, SelectorOptions, Stored } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import { Informer, storeKey } from "@setpoint/runtime";

export interface KindInformerOptions<T extends KubeObject> {
  readonly client: Client;
  readonly host: Host;
  readonly kind: KindRef<T>;
  readonly selector?: Pick<SelectorOptions, "namespace" | "fieldSelector">;
  /** Called after the cache shows the change. `object` is undefined when the object was deleted. */
  readonly onChange: (object: Stored<T> | undefined, before: Stored<T> | undefined) => void;
}

/** One informer of the runtime, typed by its kind, that runs until it is disposed. */
export class KindInformer<T extends KubeObject> implements AsyncDisposable {
  readonly #informer: Informer;
  readonly #abort = new AbortController();
  readonly #running: Promise<void>;

  constructor({ client, host, kind, selector = {}, onChange }: KindInformerOptions<T>) {
    // What a node lists is short; a server that cannot stream lists answers it as fast as one that can.
    this.#informer = new Informer(client, host, kind, { ...selector, sync: "list" });
    this.#informer.addHandler({
      onAdd: (object) => onChange(typed<T>(object), undefined),
      onUpdate: (before, object) => onChange(typed<T>(object), typed<T>(before)),
      onDelete: (before) => onChange(undefined, typed<T>(before)),
    });
    this.#running = this.#informer.run(this.#abort.signal);
  }

  /** Resolves when the first list is complete. */
  get synced(): Promise<void> {
    return this.#informer.synced;
  }

  get(namespace: string, name: string): Stored<T> | undefined {
    const object = this.#informer.store.get(storeKey({ namespace, name }));
    return object && typed<T>(object);
  }

  values(): Stored<T>[] {
    return [...this.#informer.store.values()].map((object) => typed<T>(object));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort(new Error("the node agent stopped watching"));
    await this.#running;
  }
}

/** The server sends objects of the kind that the informer asks for. */
function typed<T extends KubeObject>(object: Stored<KubeObject>): Stored<T> {
  return object as Stored<T>;
}
