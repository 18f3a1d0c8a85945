/**
 * Kinds whose CustomResourceDefinition was only pretended to be written: the server does not serve them yet.
 */
import { type ApiRequest, isJsonObject, type WatchFrame } from "@setpoint/apimachinery";
import type { PretendedObjects } from "./pretended-objects.ts";
import type { ResourceRequest } from "./resource-request.ts";

const definitions = { group: "apiextensions.k8s.io", resource: "customresourcedefinitions", namespace: "" };

export class PretendedKinds {
  readonly #objects: PretendedObjects;

  constructor(objects: PretendedObjects) {
    this.#objects = objects;
  }

  /** Whether this resource would be served. */
  has(asked: Pick<ResourceRequest, "group" | "version" | "resource">): boolean {
    return this.#objects.of(definitions).some(({ object }) => {
      const spec = object?.["spec"];
      if (!isJsonObject(spec) || spec["group"] !== asked.group || !isJsonObject(spec["names"])) return false;
      return spec["names"]["plural"] === asked.resource && servesVersion(spec["versions"], asked.version);
    });
  }

  /** The kind's name, for objects that do not say it. */
  kindOf(asked: Pick<ResourceRequest, "group" | "resource">): string | undefined {
    const found = this.#objects.get({ ...definitions, name: `${asked.resource}.${asked.group}` })?.object?.["spec"];
    const names = isJsonObject(found) ? found["names"] : undefined;
    return isJsonObject(names) ? String(names["kind"]) : undefined;
  }

  /**
   * The watch of a kind of which the server has no object and tells no change: open until the signal aborts.
   */
  async *emptyWatch(request: ApiRequest, signal: AbortSignal | undefined): AsyncGenerator<WatchFrame> {
    if (request.query?.["sendInitialEvents"] === "true") {
      const annotations = { "k8s.io/initial-events-end": "true" };
      const object = { kind: "Bookmark", apiVersion: "v1", metadata: { resourceVersion: "1", annotations } };
      yield { type: "BOOKMARK", object };
    }
    await new Promise<never>((_, reject) => {
      if (signal?.aborted === true) reject(signal.reason);
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  }
}

function servesVersion(versions: unknown, name: string): boolean {
  return (
    Array.isArray(versions) &&
    versions.some((each) => isJsonObject(each) && each["name"] === name && each["served"] !== false)
  );
}
