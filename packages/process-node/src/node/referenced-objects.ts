import { ConfigMap, Secret } from "@setpoint/api";
import type { Client } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import { KindInformer } from "../cluster/kind-informer.ts";

type DataKind = "ConfigMap" | "Secret";

export interface ReferencedObjectsOptions {
  readonly client: Client;
  readonly host: Host;
  /** An object that these pods use has changed. */
  readonly onChange: (podUids: ReadonlySet<string>) => void;
}

interface Entry {
  readonly informer: KindInformer<ConfigMap | Secret>;
  readonly users: Set<string>;
}

/**
 * ConfigMaps and Secrets that pods of this node use. Each has an informer of its own, as long as a pod uses
 * it.
 */
export class ReferencedObjects implements AsyncDisposable {
  readonly #options: ReferencedObjectsOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: ReferencedObjectsOptions) {
    this.#options = options;
  }

  /** Undefined when the object does not exist. Later changes of it are reported for this pod. */
  async find(podUid: string, kind: DataKind, namespace: string, name: string): Promise<ConfigMap | Secret | undefined> {
    const entry = this.#entry(kind, namespace, name);
    entry.users.add(podUid);
    await entry.informer.synced;
    return entry.informer.get(namespace, name);
  }

  forget(podUid: string): void {
    for (const [key, entry] of this.#entries) {
      if (!entry.users.delete(podUid) || entry.users.size > 0) continue;
      this.#entries.delete(key);
      void entry.informer[Symbol.asyncDispose]();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ informer }) => informer[Symbol.asyncDispose]()));
  }

  #entry(kind: DataKind, namespace: string, name: string): Entry {
    const key = `${kind}/${namespace}/${name}`;
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const users = new Set<string>();
    const informer = new KindInformer<ConfigMap | Secret>({
      client: this.#options.client,
      host: this.#options.host,
      kind: kind === "ConfigMap" ? ConfigMap : Secret,
      // The API server allows a node to read only the objects that its pods name, each by its name.
      selector: { namespace, fieldSelector: `metadata.name=${name}` },
      onChange: () => this.#options.onChange(users),
    });
    const entry = { informer, users };
    this.#entries.set(key, entry);
    return entry;
  }
}
