import type { KubeObject, ObjectMeta } from "@setpoint/apimachinery";

/** Metadata that every object has once the server has stored it. */
export interface StoredMeta extends ObjectMeta {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
}

/** An object that came from the server. Never change it: caches share it. */
export type Stored<T extends KubeObject> = T & { readonly metadata: StoredMeta };
