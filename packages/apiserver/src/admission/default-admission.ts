/** The admission plugins of every cluster, in upstream's order. */
import type { AdmissionPlugin } from "../registry/admission-plugin.ts";
import { defaultTolerationSeconds } from "./default-toleration-seconds.ts";
import { limitRanger } from "./limit-ranger.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";
import { podSecurity, type PodSecurityExemptions } from "./pod-security/pod-security.ts";
import { priorityAdmission } from "./priority-admission.ts";
import { resourceQuota } from "./resource-quota.ts";
import { runtimeClassAdmission } from "./runtime-class-admission.ts";
import { serviceAccountAdmission } from "./service-account-admission.ts";
import { serviceIpAllocator } from "./service-ip-allocator.ts";
import { claimResizeAdmission } from "./claim-resize-admission.ts";
import { defaultStorageClass, storageObjectInUseProtection, taintNodesByCondition } from "./storage-admission.ts";

/** Settings of the admission plugins that every cluster runs. */
export interface DefaultAdmissionOptions {
  /** The range of the cluster IPs of Services; default `127.96.0.0/12`. */
  readonly serviceCidr?: string;
  /** Where cluster DNS answers, outside of any Service: no Service gets it. */
  readonly dnsAddress?: string;
  /**
   * Whether pods need a service account that exists and get its token; default true. Off, there is no other
   * way to run pods without controllers.
   */
  readonly serviceAccounts?: boolean;
  /**
   * Whether a claim needs a StorageClass that lets volumes grow before it may ask for more; default true. Off
   * where volumes have no classes.
   */
  readonly claimResize?: boolean;
  /** Users, namespaces and runtime classes that are exempt from Pod Security; default none. */
  readonly podSecurityExemptions?: PodSecurityExemptions;
}

/**
 * The plugins that kube-apiserver enables by default, as far as this server has them, in upstream's order.
 */
export function defaultAdmission(options: DefaultAdmissionOptions = {}): readonly AdmissionPlugin[] {
  return [
    namespaceLifecycle,
    limitRanger,
    ...(options.serviceAccounts === false ? [] : [serviceAccountAdmission]),
    taintNodesByCondition,
    podSecurity(options.podSecurityExemptions),
    priorityAdmission,
    defaultTolerationSeconds,
    runtimeClassAdmission,
    defaultStorageClass,
    storageObjectInUseProtection,
    ...(options.claimResize === false ? [] : [claimResizeAdmission]),
    serviceIpAllocator(options.serviceCidr, options.dnsAddress === undefined ? [] : [options.dnsAddress]),
    // Last: only what all others let pass is charged.
    resourceQuota(),
  ];
}
