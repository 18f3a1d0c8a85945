import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";

/** How the parts of an object come to be when somebody looks. */
export interface LazyParts {
  metadata(): Stored<KubeObject>["metadata"];
  whole(): Stored<KubeObject>;
}

/**
 * An object that is decoded when it is read: of most changes that a cache is told, its handlers read the metadata alone, and of a
 * hundred thousand objects of a first list often nothing else. It behaves as the frozen object that it stands for.
 */
export function lazyObject(parts: LazyParts): Stored<KubeObject> {
  return new Proxy({}, new LazyHandler(parts)) as Stored<KubeObject>;
}

class LazyHandler implements ProxyHandler<object> {
  readonly #parts: LazyParts;
  #metadata: Stored<KubeObject>["metadata"] | undefined;
  #whole: Stored<KubeObject> | undefined;

  constructor(parts: LazyParts) {
    this.#parts = parts;
  }

  get(_: object, field: string | symbol): unknown {
    if (field === "metadata") return this.#whole?.metadata ?? (this.#metadata ??= this.#parts.metadata());
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
    return (this.#whole ??= this.#parts.whole());
  }
}
