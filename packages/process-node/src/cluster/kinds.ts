/** The kinds that a node reads and writes, with the few fields of them that it looks at. */
import type { KubeObject, LabelSelectorObject } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import type { Pod } from "../pod/pod.ts";

export interface DataObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  /** Base64, of ConfigMaps only. */
  readonly binaryData?: Readonly<Record<string, string>>;
}

export interface ServicePort {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: string;
  readonly targetPort?: number | string;
}

export interface Service extends KubeObject {
  readonly spec: {
    readonly clusterIP?: string;
    readonly ports?: readonly ServicePort[];
    readonly type?: string;
    readonly externalName?: string;
    readonly publishNotReadyAddresses?: boolean;
    readonly sessionAffinity?: string;
  };
}

export interface NetworkPolicyPeer {
  readonly podSelector?: LabelSelectorObject;
  readonly namespaceSelector?: LabelSelectorObject;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

export interface NetworkPolicyPort {
  readonly protocol?: string;
  /** A number, or the name of a container's port. */
  readonly port?: number | string;
  readonly endPort?: number;
}

export interface NetworkPolicy extends KubeObject {
  readonly spec: {
    readonly podSelector?: LabelSelectorObject;
    readonly policyTypes?: readonly string[];
    readonly ingress?: readonly {
      readonly from?: readonly NetworkPolicyPeer[];
      readonly ports?: readonly NetworkPolicyPort[];
    }[];
    readonly egress?: readonly {
      readonly to?: readonly NetworkPolicyPeer[];
      readonly ports?: readonly NetworkPolicyPort[];
    }[];
  };
}

export interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions?: {
    readonly ready?: boolean | null;
    readonly serving?: boolean | null;
    readonly terminating?: boolean | null;
  };
  readonly hostname?: string;
}

export interface EndpointSlice extends KubeObject {
  readonly addressType: string;
  readonly endpoints?: readonly Endpoint[] | null;
  readonly ports?: readonly { readonly name?: string; readonly port?: number; readonly protocol?: string }[] | null;
}

export interface PersistentVolumeClaim extends KubeObject {
  readonly spec: {
    readonly volumeName?: string;
    readonly storageClassName?: string;
    readonly accessModes?: readonly string[];
    readonly volumeMode?: string;
    readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
  };
  readonly status?: { readonly phase?: string };
}

export interface PersistentVolume extends KubeObject {
  readonly spec: {
    readonly hostPath?: { readonly path: string };
    readonly local?: { readonly path: string };
    readonly persistentVolumeReclaimPolicy?: string;
    readonly claimRef?: { readonly namespace?: string; readonly name?: string; readonly uid?: string };
  };
  readonly status?: { readonly phase?: string };
}

export interface StorageClass extends KubeObject {
  readonly provisioner: string;
  readonly reclaimPolicy?: string;
}

const kind = <T extends KubeObject>(
  group: string,
  version: string,
  name: string,
  plural: string,
  namespaced: boolean,
): KindRef<T> => ({
  group,
  version,
  kind: name,
  plural,
  namespaced,
});

export const namespaceKind: KindRef = kind("", "v1", "Namespace", "namespaces", false);
export const networkPolicyKind: KindRef<NetworkPolicy> = kind(
  "networking.k8s.io",
  "v1",
  "NetworkPolicy",
  "networkpolicies",
  true,
);
export const podKind: KindRef<Pod> = kind("", "v1", "Pod", "pods", true);
export const nodeKind: KindRef = kind("", "v1", "Node", "nodes", false);
export const leaseKind: KindRef = kind("coordination.k8s.io", "v1", "Lease", "leases", true);
export const eventKind: KindRef = kind("", "v1", "Event", "events", true);
export const serviceKind: KindRef<Service> = kind("", "v1", "Service", "services", true);
export const endpointSliceKind: KindRef<EndpointSlice> = kind(
  "discovery.k8s.io",
  "v1",
  "EndpointSlice",
  "endpointslices",
  true,
);
export const configMapKind: KindRef<DataObject> = kind("", "v1", "ConfigMap", "configmaps", true);
export const secretKind: KindRef<DataObject> = kind("", "v1", "Secret", "secrets", true);
export const claimKind: KindRef<PersistentVolumeClaim> = kind(
  "",
  "v1",
  "PersistentVolumeClaim",
  "persistentvolumeclaims",
  true,
);
export const volumeKind: KindRef<PersistentVolume> = kind("", "v1", "PersistentVolume", "persistentvolumes", false);
export const storageClassKind: KindRef<StorageClass> = kind(
  "storage.k8s.io",
  "v1",
  "StorageClass",
  "storageclasses",
  false,
);
