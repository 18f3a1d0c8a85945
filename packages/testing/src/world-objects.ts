import type { KubeObject, NamespacedName } from "@setpoint/apimachinery";
import type { Client, KindRef, RestMapper, Stored } from "@setpoint/client";
import type { ObjectName } from "./world.ts";
import type { WorldTime } from "./world-time.ts";

/** A scenario's requests to the API server; each lets time pass until it is answered. */
export class WorldObjects {
  readonly #client: Client;
  readonly #time: WorldTime;
  #mapper: RestMapper | undefined;

  constructor(client: Client, time: WorldTime) {
    this.#client = client;
    this.#time = time;
  }

  apply<T extends KubeObject>(object: T): Promise<Stored<T>> {
    const { namespace = "default" } = object.metadata;
    return this.#time.wait(
      this.#resourceOf(object).then((resource) => {
        const placed = resource.namespaced ? { ...object, metadata: { ...object.metadata, namespace } } : object;
        return this.#client.apply<T>(resource as KindRef<T>, placed, { fieldManager: "user", force: true });
      }),
    );
  }

  /** Asks the server again when it did not serve the kind the last time. */
  async #resourceOf(object: KubeObject): Promise<KindRef> {
    try {
      if (this.#mapper !== undefined) return this.#mapper.ofObject(object);
    } catch {
      this.#mapper = undefined;
    }
    this.#mapper = await this.#client.discover();
    return this.#mapper.ofObject(object);
  }

  get<T extends KubeObject>(kind: KindRef<T>, name: ObjectName): Promise<Stored<T>> {
    return this.#time.wait(this.#client.get(kind, keyOf(kind, name)));
  }

  async list<T extends KubeObject>(kind: KindRef<T>): Promise<readonly Stored<T>[]> {
    return (await this.#time.wait(this.#client.listAll(kind))).items;
  }

  patch<T extends KubeObject>(kind: KindRef<T>, name: ObjectName, patch: unknown): Promise<Stored<T>> {
    return this.#time.wait(this.#client.patch(kind, keyOf(kind, name), patch));
  }

  async delete(kind: KindRef, name: ObjectName): Promise<void> {
    await this.#time.wait(this.#client.delete(kind, keyOf(kind, name)));
  }
}

export function keyOf(kind: KindRef, name: ObjectName): NamespacedName {
  const key = typeof name === "string" ? { name } : name;
  return kind.namespaced ? { namespace: "default", ...key } : key;
}
