/** Objects in memory behind ClusterApi: merge patches and UIDs, and no more of a server than tests of volumes need. */
import { ApiError, failure, type KubeObject, type NamespacedName } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import type { ClusterApi } from "./cluster-api.ts";

type Answer = (object: KubeObject) => KubeObject;

export class FakeClusterApi implements ClusterApi {
  readonly objects = new Map<string, KubeObject>();
  /** Answers creates of subresources, such as `serviceaccounts/token`. */
  onSubresource: Answer = (object) => object;
  #uids = 0;

  add<T extends KubeObject>(kind: KindRef<T>, object: T): T {
    const uid = object.metadata.uid ?? `uid-${++this.#uids}`;
    const stored = { ...object, metadata: { ...object.metadata, uid } };
    this.objects.set(keyOf(kind, object.metadata), stored);
    return stored;
  }

  async get<T extends KubeObject>(kind: KindRef<T>, key: NamespacedName): Promise<T> {
    const found = await this.find(kind, key);
    if (found === undefined) throw new ApiError(failure(404, "NotFound", `${kind.plural} "${key.name}" not found`));
    return found;
  }

  async find<T extends KubeObject>(kind: KindRef<T>, key: NamespacedName): Promise<T | undefined> {
    return this.objects.get(keyOf(kind, key)) as T | undefined;
  }

  async list<T extends KubeObject>(kind: KindRef<T>): Promise<{ items: readonly T[]; resourceVersion: string }> {
    const items = [...this.objects]
      .filter(([key]) => key.startsWith(`${kind.plural}/`))
      .map(([, object]) => object as T);
    return { items, resourceVersion: "1" };
  }

  watch(): Promise<never> {
    return Promise.reject(new Error("the fake API has no watch"));
  }

  async create<T extends KubeObject>(kind: KindRef<T>, object: T, subresource?: object): Promise<T> {
    if (subresource !== undefined) return this.onSubresource(object) as T;
    if (this.objects.has(keyOf(kind, object.metadata)))
      throw new ApiError(failure(409, "AlreadyExists", `${kind.plural} "${object.metadata.name}" already exists`));
    return this.add(kind, object);
  }

  async patch<T extends KubeObject>(kind: KindRef<T>, key: NamespacedName, patch: unknown): Promise<T> {
    const merged = merge(await this.get(kind, key), patch) as T;
    this.objects.set(keyOf(kind, key), merged);
    return merged;
  }

  async delete(kind: KindRef, key: NamespacedName): Promise<void> {
    this.objects.delete(keyOf(kind, key));
  }
}

function keyOf(
  kind: KindRef,
  { namespace = "", name = "" }: { readonly namespace?: string; readonly name?: string },
): string {
  return `${kind.plural}/${kind.namespaced ? namespace : ""}/${name}`;
}

function merge(before: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = typeof before === "object" && before !== null ? { ...before } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merge(result[key], value);
  }
  return result;
}
