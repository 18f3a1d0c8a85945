import type { Clock, Logger } from "@setpoint/host";
import type { ClusterApi } from "./cluster-api.ts";
import { configMapKind, type DataObject, secretKind } from "./kinds.ts";
import { ObjectMirror } from "./object-mirror.ts";

type DataKind = "ConfigMap" | "Secret";

export interface ReferencedObjectsOptions {
  readonly api: ClusterApi;
  readonly clock: Clock;
  readonly log: Logger;
  /** An object changed that these pods use. */
  readonly onChange: (podUids: ReadonlySet<string>) => void;
}

interface Entry {
  readonly mirror: ObjectMirror<DataObject>;
  readonly users: Set<string>;
}

/** ConfigMaps and Secrets that pods of this node use: each is watched alone, as long as a pod uses it. */
export class ReferencedObjects implements AsyncDisposable {
  readonly #options: ReferencedObjectsOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: ReferencedObjectsOptions) {
    this.#options = options;
  }

  /** Undefined when there is no such object. From now on the pod hears of its changes. */
  async find(podUid: string, kind: DataKind, namespace: string, name: string): Promise<DataObject | undefined> {
    const entry = this.#entry(kind, namespace, name);
    entry.users.add(podUid);
    await entry.mirror.synced;
    return entry.mirror.get(namespace, name);
  }

  forget(podUid: string): void {
    for (const [key, entry] of this.#entries) {
      if (!entry.users.delete(podUid) || entry.users.size > 0) continue;
      this.#entries.delete(key);
      void entry.mirror[Symbol.asyncDispose]();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ mirror }) => mirror[Symbol.asyncDispose]()));
  }

  #entry(kind: DataKind, namespace: string, name: string): Entry {
    const key = `${kind}/${namespace}/${name}`;
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const users = new Set<string>();
    const mirror = new ObjectMirror<DataObject>({
      api: this.#options.api,
      clock: this.#options.clock,
      log: this.#options.log,
      kind: kind === "ConfigMap" ? configMapKind : secretKind,
      selector: {
        namespace,
        fieldSelector: `metadata.name=${name}`,
      },
      onChange: () => this.#options.onChange(users),
    });
    const entry = { mirror, users };
    this.#entries.set(key, entry);
    return entry;
  }
}
