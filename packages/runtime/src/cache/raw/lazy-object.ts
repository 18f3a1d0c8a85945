import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";

/** Where the parts of an object come from when they are read. */
export interface LazySource<Place> {
  metadataAt(place: Place): Stored<KubeObject>["metadata"];
  objectAt(place: Place): Stored<KubeObject>;
}

/**
 * An object that is decoded when it is read. Handlers read only the metadata of most changes, and nothing at
 * all of most objects of a first list. It behaves as the frozen object that it stands for.
 */
export function lazyObject<Place>(source: LazySource<Place>, place: Place): Stored<KubeObject> {
  return new Proxy({}, new LazyHandler(source, place)) as Stored<KubeObject>;
}

class LazyHandler<Place> implements ProxyHandler<object> {
  readonly #source: LazySource<Place>;
  readonly #place: Place;
  #metadata: Stored<KubeObject>["metadata"] | undefined;
  #whole: Stored<KubeObject> | undefined;

  constructor(source: LazySource<Place>, place: Place) {
    this.#source = source;
    this.#place = place;
  }

  get(_: object, field: string | symbol): unknown {
    if (field === "metadata") return this.#whole?.metadata ?? (this.#metadata ??= this.#source.metadataAt(this.#place));
    return Reflect.get(this.#object(), field);
  }

  has(_: object, field: string | symbol): boolean {
    return Reflect.has(this.#object(), field);
  }

  ownKeys(): (string | symbol)[] {
    return Reflect.ownKeys(this.#object());
  }

  getOwnPropertyDescriptor(_: object, field: string | symbol): PropertyDescriptor | undefined {
    const descriptor = Reflect.getOwnPropertyDescriptor(this.#object(), field);
    // A proxy may only call a field fixed that its target has, and the target has none.
    return descriptor === undefined ? undefined : { ...descriptor, configurable: true };
  }

  set(): boolean {
    return false;
  }

  deleteProperty(): boolean {
    return false;
  }

  defineProperty(): boolean {
    return false;
  }

  #object(): Stored<KubeObject> {
    return (this.#whole ??= this.#source.objectAt(this.#place));
  }
}
