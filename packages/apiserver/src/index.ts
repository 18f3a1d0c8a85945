/** The server half of the Kubernetes API; see the package README. `./http` listens, `./sqlite` keeps state on disk. */

// the server
export type { ApiServerOptions } from "./api-server.ts";
export { ApiServer, createApiServer } from "./api-server.ts";
export type { BodyDecoder } from "./request/body-decoder.ts";

// the table of what is served
export { Registry } from "./registry/registry.ts";
export type {
  ResourceDefinition,
  ScalePaths,
  Strategy,
  SubresourceDefinition,
  TableColumn,
  Verb,
  WriteContext,
} from "./registry/resource-definition.ts";
export type { Endpoint, EndpointRequest, EndpointTable } from "./registry/endpoint.ts";
export type { AuthorizationDecision, Authorizer, RequestAttributes } from "./registry/request-attributes.ts";
export type { AdmissionPlugin, AdmissionRequest, ObjectReader } from "./admission/admission-plugin.ts";

// storage
export type {
  Storage,
  StorageDecision,
  StorageEvent,
  StorageKey,
  StorageResult,
  StorageSnapshot,
} from "./storage/storage.ts";
export type { HistoryLimits } from "./storage/limits.ts";
export { createMemoryStorage } from "./storage/memory-storage.ts";
