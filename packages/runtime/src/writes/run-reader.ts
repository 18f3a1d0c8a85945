/** What one run reads: the cache with the run's own writes in it, or the server. */
import { isNotFound, type KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import { controllerOf, storeKey } from "../cache/store.ts";
import { namespaceOf, type Parent } from "./place-child.ts";
import type { WritePorts } from "./write-ports.ts";
import type { ListOptions } from "../controller/watch-definition.ts";

/** Objects of a kind have the type of the kind; that is why the casts here are right. */
export class RunReader {
  readonly #parent: Parent;
  readonly #parentKey: string;
  readonly #ports: WritePorts;

  constructor(parent: Parent, ports: WritePorts) {
    this.#parent = parent;
    this.#parentKey = storeKey(parent.object.metadata);
    this.#ports = ports;
  }

  get<T extends KubeObject>(kind: KindRef<T>, name: string, namespace?: string): Stored<T> | undefined {
    const place = namespaceOf(kind, namespace, this.#parent);
    return this.#at(kind, place, storeKey({ namespace: place, name })) as Stored<T> | undefined;
  }

  #at(kind: KindRef, namespace: string | undefined, key: string): Stored<KubeObject> | undefined {
    const { writes, cache } = this.#ports;
    return writes.overlay(kind, key, cache.at(kind, namespace, key));
  }

  list<T extends KubeObject>(kind: KindRef<T>, options: ListOptions = {}): readonly Stored<T>[] {
    const { writes, cache } = this.#ports;
    const { namespace } = this.#parent.object.metadata;
    const wanted = options.allNamespaces === true ? options : { ...options, namespace: options.namespace ?? namespace };
    const belongs = (each: Stored<KubeObject>): boolean => cache.isListed(kind, each, wanted);
    return writes.overlayList(kind, cache.list(kind, wanted), belongs) as readonly Stored<T>[];
  }

  owned<T extends KubeObject>(kind: KindRef<T>): readonly Stored<T>[] {
    const { writes, cache } = this.#ports;
    const { uid } = this.#parent.object.metadata;
    const belongs = (each: Stored<KubeObject>): boolean => controllerOf(each)?.uid === uid;
    return writes.overlayList(kind, cache.ownedBy(kind, uid), belongs) as readonly Stored<T>[];
  }

  async fresh<T extends KubeObject>(
    kind: KindRef<T>,
    name: string,
    namespace?: string,
  ): Promise<Stored<T> | undefined> {
    const { client, signal } = this.#ports;
    const at = namespaceOf(kind, namespace, this.#parent);
    try {
      return await client.get(kind, at === undefined ? { name } : { name, namespace: at }, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /**
   * The reconciled object as it is now, own writes included. A namesake that came meanwhile is not the object
   * of this run.
   */
  current(): Stored<KubeObject> {
    const { kind, object } = this.#parent;
    const now = this.#at(kind, object.metadata.namespace, this.#parentKey);
    return now?.metadata.uid === object.metadata.uid ? now : object;
  }
}
