/** Typed requests to any Kubernetes API; see the package's README. */

// the client
export { createClient } from "./create-client.ts";
export type { Client, FullList } from "./client.ts";
export type { KindRef } from "./kind-ref.ts";
export type { Stored, StoredMeta } from "./stored.ts";
export type {
  ApplyOptions,
  ClientOptions,
  DeleteCollectionOptions,
  DeleteRequestOptions,
  GetOptions,
  ListAllOptions,
  ListPageOptions,
  PatchOptions,
  Preconditions,
  RequestOptions,
  SelectorOptions,
  WatchOptions,
  WriteOptions,
} from "./request-options.ts";

// discovery
export type { DiscoveredResource } from "./rest-mapper.ts";
export { RestMapper } from "./rest-mapper.ts";

// paths
export { collectionPath, groupVersionPath, objectPath } from "./resource-path.ts";

// errors
export { isOutcomeUnknown } from "./errors.ts";
