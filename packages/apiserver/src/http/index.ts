/** HTTPS for the API server: listening, certificates, and the proxy to the node agents. */
export type { RequestHandler } from "./request-handler.ts";
export type { ListeningServer, ServeOptions, UpgradeHandler, UpgradeRequest } from "./serve.ts";
export { serve } from "./serve.ts";

// limits
export { requestBytesMax } from "./read-body.ts";
export { largeListMsMax, largeListsMax } from "./large-answers.ts";
export type { MemoryBudgets } from "./memory-budgets.ts";
export { exposeMemory, memoryBudgets, storageLimits } from "./memory-budgets.ts";
export type { HeapUse } from "./heap-use.ts";
export { MemoryGuard } from "./memory-guard.ts";
export { gzipBytesMin, listSliceLength, slowClientMsMax, watchBufferBytesMax } from "./write-response.ts";

// bodies
export { YamlThread, yamlMsMax } from "../request/yaml-thread.ts";

// webhooks
export type { ConnectToPod, HttpsWebhookCaller, HttpsWebhookCallerOptions } from "./webhook-caller.ts";
export { httpsWebhookCaller, webhookAnswerBytesMax } from "./webhook-caller.ts";
export type { Endpoint as ServiceEndpoint, ResolveService, ServicePort } from "../webhook/service-endpoint.ts";
export { serviceEndpoints } from "../webhook/service-endpoint.ts";

// authentication
export type { AuthenticatorOptions } from "../auth/authenticator.ts";
export { createAuthenticator } from "../auth/authenticator.ts";
export type { Authenticate, CertificateSubject, Credentials } from "../auth/credentials.ts";
export type { ServiceAccountTokensOptions, TokenIssue, VerifiedToken } from "../auth/service-account-tokens.ts";
export { ServiceAccountTokens } from "../auth/service-account-tokens.ts";

// authorization
export { forbidden, forbiddenMessage } from "../auth/forbidden-message.ts";
export type { RbacAuthorizerOptions } from "../auth/rbac-authorizer.ts";
export { RbacAuthorizer } from "../auth/rbac-authorizer.ts";
export { createCertificateAdmission } from "../auth/certificate-admission.ts";
export type { NodeAuthorizerOptions } from "../auth/node-authorizer.ts";
export { NodeAuthorizer } from "../auth/node-authorizer.ts";
export { createNodeRestriction, restrictNodeEvictions } from "../auth/node-restriction.ts";
export { unionAuthorizer } from "../auth/union-authorizer.ts";
export { createRbacEscalationPlugin } from "../auth/rbac-escalation.ts";
export type { ReviewEndpointsOptions } from "../auth/review-endpoints.ts";
export { createReviewEndpoints } from "../auth/review-endpoints.ts";
export type { TokenEndpointsOptions } from "../auth/token-endpoints.ts";
export { createTokenEndpoints } from "../auth/token-endpoints.ts";

// node agents
export type { NodeProxy, NodeProxyOptions } from "./node-proxy.ts";
export type { ObjectProxyOptions } from "./object-proxy.ts";
export { objectProxyEndpoints } from "./object-proxy.ts";
export { createNodeProxy } from "./node-proxy.ts";
export { agentStats } from "./agent-stats.ts";

// extension servers
export { ExtensionCatalog } from "../aggregation/extension-catalog.ts";
export type { DiscoveredResource, ExtensionContents } from "../aggregation/extension-catalog.ts";
export { extensionAt } from "../aggregation/extension-service.ts";
export type { ExtensionService } from "../aggregation/extension-service.ts";
export type { ExtensionProxyOptions, ForwardToExtension } from "./extension-proxy.ts";
export { createExtensionProxy } from "./extension-proxy.ts";
export type { ExtensionKeeperOptions } from "./extension-keeper.ts";
export { keepExtensions } from "./extension-keeper.ts";

// faults on purpose
export type { FaultMatch, FaultName, FaultPlan, FaultRule, FaultSettings } from "../faults/fault-file.ts";
export { parseFaultPlan } from "../faults/fault-file.ts";
export type { FaultlessServer, FaultyServerOptions } from "../faults/faulty-server.ts";
export { FaultyServer } from "../faults/faulty-server.ts";
export { faultsPath, steerable } from "../faults/steer-faults.ts";
