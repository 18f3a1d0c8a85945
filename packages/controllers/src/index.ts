/** Kubernetes' own controllers, written on our runtime; see the package's README. */
export type { CertificateSignerOptions } from "./certificates/certificate-signer.ts";
export { certificateSigner } from "./certificates/certificate-signer.ts";
export { daemonSets } from "./daemon-set/daemon-set-controller.ts";
export { deployments } from "./deployment/deployment-controller.ts";
export { podDisruptionBudgets } from "./disruption/disruption-controller.ts";
export { endpoints } from "./endpoints/endpoints-controller.ts";
export type { GarbageCollectorOptions } from "./garbage-collector/garbage-collector.ts";
export { GarbageCollector } from "./garbage-collector/garbage-collector.ts";
export { namespaces } from "./namespace/namespace-controller.ts";
export { nodeLifecycle } from "./node-lifecycle/node-lifecycle-controller.ts";
export { resourceQuotas } from "./resource-quota/resource-quota-controller.ts";
export { replicaSets } from "./replica-set/replica-set-controller.ts";
export { replicationControllers } from "./replication-controller/replication-controller.ts";
export type { SchedulerOptions } from "./scheduler/scheduler.ts";
export { scheduler } from "./scheduler/scheduler.ts";
export { statefulSets } from "./stateful-set/stateful-set-controller.ts";
export { serviceAccounts } from "./service-account/service-account-controller.ts";
export { claimProtection } from "./volume-protection/claim-protection-controller.ts";
