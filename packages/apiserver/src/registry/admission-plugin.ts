import type { UnstructuredObject, UserInfo } from "@setpoint/apimachinery";
import type { Clock, Random } from "@setpoint/host";
import type { ObjectReader } from "./object-reader.ts";
import type { ResourceDefinition } from "./resource-definition.ts";

/** One write as admission plugins see it. Its `warn` adds a Warning header to the response. */
export interface AdmissionRequest {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly definition: ResourceDefinition;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Mutable in `admit` and `allocate`; undefined for DELETE. */
  readonly object: UnstructuredObject | undefined;
  readonly old: UnstructuredObject | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  readonly reader: ObjectReader;
  readonly clock: Clock;
  readonly random: Random;
  warn(message: string): void;
  readonly pass: AdmissionPass;
}

/**
 * Whether the plugins run for the first time or again, because one that others should have seen changed the
 * object.
 */
export interface AdmissionPass {
  isRepeated: boolean;
  /**
   * Set by a plugin that changed the object after others had seen it. All run once more, and not a third
   * time.
   */
  isNeededAgain: boolean;
}

/**
 * Checks and changes writes: `admit` may change the object (before validation), `validate` may only reject it
 * (after validation). Both reject with an ApiError.
 *
 * Caveats: other writes are stored between `validate` and the store. A plugin that decides by other objects
 * repeats its check in `stillHolds`; when it does not hold any more, the write starts again on the newest
 * object.
 */
export interface AdmissionPlugin {
  readonly name: string;
  admit?(request: AdmissionRequest): Promise<void>;
  /** Allocates what only one object may have (a cluster IP), once all plugins have changed the object. */
  allocate?(request: AdmissionRequest): void;
  validate?(request: AdmissionRequest): Promise<void>;
  /**
   * Runs synchronously with the store: whether what `allocate` and `validate` decided by other objects still
   * holds.
   */
  stillHolds?(request: AdmissionRequest): boolean;
}
