/**
 * The server half of the Kubernetes API; see the package README. `./http` listens, `./sqlite` keeps state on
 * disk.
 */

// the server
export type { ApiServerOptions } from "./assembly/api-server.ts";
export type { ApiServerFeatures } from "./registry/registry-context.ts";
export { ApiServer, createApiServer } from "./assembly/api-server.ts";
export type { BodyDecoder } from "./request/body-decoder.ts";

// the table of what is served
export { Registry } from "./registry/registry.ts";
export type {
  ResourceDefinition,
  ScalePaths,
  Strategy,
  SubresourceDefinition,
  Verb,
  WriteContext,
} from "./registry/resource-definition.ts";
export type { TableColumn } from "./response/table-column.ts";
export type { Endpoint, EndpointRequest, EndpointTable } from "./registry/endpoint.ts";
export type { AuthorizationDecision, Authorizer, RequestAttributes } from "./request/request-attributes.ts";
export type { AdmissionPlugin, AdmissionRequest } from "./registry/admission-plugin.ts";
export type { ObjectReader } from "./registry/object-reader.ts";

// storage
export type {
  Storage,
  StorageContents,
  StorageDecision,
  StorageEvent,
  StorageKey,
  StorageResult,
  StorageSnapshot,
  StorageUse,
} from "./storage/storage.ts";
export type { HistoryLimits } from "./storage/limits.ts";
export type { MemoryStorage } from "./storage/memory-storage.ts";
export { createMemoryStorage } from "./storage/memory-storage.ts";

// built-in kinds
export type { BootstrapTarget } from "./assembly/bootstrap.ts";
export { bootstrap } from "./assembly/bootstrap.ts";
export { builtinEndpoints } from "./assembly/builtin-endpoints.ts";
export { builtinResources } from "./registry/builtin/builtin-resources.ts";
export { metricsResources } from "./metrics/metrics-resources.ts";
export type { ReadSummary } from "./metrics/node-samples.ts";
export type { ResourceMetricsOptions } from "./metrics/resource-metrics.ts";
export { resourceMetricsEndpoints } from "./metrics/resource-metrics.ts";
export type { EndpointServer } from "./write/endpoint-server.ts";
export type { StartList, StartOptions } from "./assembly/start-objects.ts";
export { objectsAtStart } from "./assembly/start-objects.ts";
export type { DefaultAdmissionOptions } from "./admission/default-admission.ts";
export { defaultAdmission } from "./admission/default-admission.ts";
export { networkPolicyWarning } from "./admission/network-policy-warning.ts";
export { defaultServiceCidr, firstServiceAddress } from "./admission/service-ip-allocator.ts";
export { decodeProtobuf } from "./registry/protobuf/decode-protobuf.ts";

// what the server reports about itself
export type { DiscoveryOptions, ServerVersion } from "./assembly/discovery/discovery-endpoints.ts";
export { createDiscoveryEndpoints, serverVersion } from "./assembly/discovery/discovery-endpoints.ts";
export { metricsEndpoint } from "./assembly/discovery/metrics.ts";
export type { HealthCheck, HealthEndpoint } from "./assembly/discovery/health.ts";
export { storageCheck } from "./assembly/discovery/storage-check.ts";

// custom resources
export type { ServeCustomResourcesOptions } from "./assembly/serve-custom-resources.ts";
export { serveCustomResources, withCrdStrategy } from "./assembly/serve-custom-resources.ts";
export type { CustomResourcesOptions } from "./registry/crd/custom-resources.ts";
export { CustomResources } from "./registry/crd/custom-resources.ts";

// webhooks
export type { ServeWebhooksOptions } from "./assembly/serve-webhooks.ts";
export { serveWebhooks } from "./assembly/serve-webhooks.ts";
export type { WebhookAnswer, WebhookCall, WebhookCaller } from "./webhook/webhook-caller.ts";
export type { WebhookClientConfig } from "./registry/webhook-client-config.ts";

// authorization
export type { AuthenticatorOptions } from "./auth/authenticator.ts";
export { createAuthenticator } from "./auth/authenticator.ts";
export type { Authenticate, CertificateSubject, Credentials } from "./auth/credentials.ts";
export type { RbacAuthorizerOptions } from "./auth/rbac-authorizer.ts";
export { RbacAuthorizer } from "./auth/rbac-authorizer.ts";
export { createOwnerReferencesPlugin } from "./auth/owner-references-permission.ts";
export { createRbacEscalationPlugin } from "./auth/rbac-escalation.ts";
export type { ReviewEndpointsOptions } from "./auth/review-endpoints.ts";
export { createReviewEndpoints } from "./auth/review-endpoints.ts";
export type { ServiceAccountTokensOptions } from "./auth/service-account-tokens.ts";
export { ServiceAccountTokens } from "./auth/service-account-tokens.ts";
export type { TokenEndpointsOptions } from "./auth/token-endpoints.ts";
export { createTokenEndpoints } from "./auth/token-endpoints.ts";
