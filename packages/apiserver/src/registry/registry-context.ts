import type { Host } from "@setpoint/host";
import type { AdmissionPlugin } from "./admission-plugin.ts";
import type { ObjectReader } from "./object-reader.ts";
import type { Storage } from "../storage/storage.ts";
import type { RequestAttributes } from "../request/request-attributes.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import type { KeyedMutex } from "./keyed-mutex.ts";
import { ResourceView } from "./resource-view.ts";

/** Features that are off by default, like upstream's feature gates. */
export interface ApiServerFeatures {
  /** `ShardedListAndWatch`, alpha in 1.36: lists and watches of a part of the objects, by `shardSelector`. */
  readonly shardedListAndWatch?: boolean;
}

/** What every operation of the registry works with. */
export interface RegistryContext {
  readonly host: Host;
  readonly storage: Storage;
  readonly reader: ObjectReader;
  readonly admission: readonly AdmissionPlugin[];
  readonly features: ApiServerFeatures;
  /** What one watch may hold for a reader that does not read. */
  readonly watchBytesMax: number;
  /** By key: a write that lost its key to another one waits here for its turn to try again. */
  readonly retries: KeyedMutex;
  view(definition: ResourceDefinition): ResourceView;
  /** Throws a 403. */
  authorize(attributes: RequestAttributes): void;
}

/** Views by definition; they go with the definition when a CRD changes. */
export class ResourceViews {
  readonly #views = new WeakMap<ResourceDefinition, ResourceView>();

  get(definition: ResourceDefinition): ResourceView {
    let view = this.#views.get(definition);
    if (view === undefined) {
      view = new ResourceView(definition);
      this.#views.set(definition, view);
    }
    return view;
  }
}
