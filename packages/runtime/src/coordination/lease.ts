import { createKind, type Kind, type KubeObject } from "@setpoint/apimachinery";

/** What leader election needs of coordination.k8s.io/v1 Lease. */
export interface Lease extends KubeObject {
  readonly spec: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

export const Lease: Kind<Lease> = createKind<Lease>({
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
});
