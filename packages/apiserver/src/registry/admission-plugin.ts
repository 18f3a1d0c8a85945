import type { UnstructuredObject, UserInfo } from "@setpoint/apimachinery";
import type { Clock, Random } from "@setpoint/host";
import type { ObjectReader } from "./object-reader.ts";
import type { ResourceDefinition } from "./resource-definition.ts";

export interface AdmissionRequest {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly definition: ResourceDefinition;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Mutable in `admit`; undefined for DELETE. */
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

/** Whether the plugins run for the first time or again, because one that others should have seen changed the object. */
export interface AdmissionPass {
  isRepeated: boolean;
  /** Set by a plugin that changed the object after others had seen it. All run once more, and not a third time. */
  isNeededAgain: boolean;
}

/**
 * Has a say in writes: `admit` may change the object (before validation), `validate` may only refuse (after it). Both throw
 * an ApiError to refuse. They run synchronously inside the write, so that what they read cannot change meanwhile; only one
 * that has to ask somebody else returns a promise. The write then waits outside of the storage and, when its key has moved
 * meanwhile or a plugin says that its decision no longer `holds`, begins again.
 */
export interface AdmissionPlugin {
  readonly name: string;
  admit?(request: AdmissionRequest): void | Promise<void>;
  /** Gives what nobody else may have, once, when all have changed the object: what was given before a wait may be taken after it. */
  allot?(request: AdmissionRequest): void;
  validate?(request: AdmissionRequest): void | Promise<void>;
  /** Asked in the moment of storing after a write has waited: whether what was decided by others' objects still holds. */
  holds?(request: AdmissionRequest): boolean;
}
