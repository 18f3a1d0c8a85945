/**
 * The objects that the mutants make. None has an owner reference unless a mutant gives it one: what they
 * forget stays.
 */
import {
  ConfigMap,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Secret,
  Service,
  StatefulSet,
} from "@setpoint/api";
import type { KindRef, KubeObject, Stored } from "setpoint";
import type { Store } from "./store.ts";

/** Marks what belongs to a store; the UID tells namesakes apart. */
export function labelsOf(store: Stored<Store>): Readonly<Record<string, string>> {
  return { store: store.metadata.name, "store-uid": store.metadata.uid };
}

export function isOf(store: Stored<Store>, object: KubeObject): boolean {
  return object.metadata.labels?.["store-uid"] === store.metadata.uid;
}

export function configMap(
  store: Stored<Store>,
  suffix: string,
  data: Readonly<Record<string, string>> = {},
): ConfigMap {
  return ConfigMap({ name: `${store.metadata.name}-${suffix}`, labels: labelsOf(store), data });
}

export function claim(store: Stored<Store>, suffix: string): PersistentVolumeClaim {
  return PersistentVolumeClaim({
    name: `${store.metadata.name}-${suffix}`,
    labels: labelsOf(store),
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });
}

/** One object of a kind that a mutant may be about; `suffix` tells several of a kind apart. */
export type ChildBuilder = (store: Stored<Store>) => KubeObject;

export interface ChildKind {
  readonly kind: KindRef;
  readonly suffix: string;
  readonly build: ChildBuilder;
}

export function secret(suffix: string): ChildKind {
  return {
    kind: Secret,
    suffix,
    build: (store) =>
      Secret({
        name: `${store.metadata.name}-${suffix}`,
        labels: labelsOf(store),
        stringData: { value: `canary of ${suffix}` },
      }),
  };
}

export function volume(suffix: string): ChildKind {
  return { kind: PersistentVolumeClaim, suffix, build: (store) => claim(store, suffix) };
}

export function configuration(suffix: string): ChildKind {
  return { kind: ConfigMap, suffix, build: (store) => configMap(store, suffix) };
}

export function service(suffix: string): ChildKind {
  return {
    kind: Service,
    suffix,
    build: (store) =>
      Service({
        name: `${store.metadata.name}-${suffix}`,
        labels: labelsOf(store),
        spec: { clusterIP: "None", ports: [{ port: store.spec.port }], selector: { store: store.metadata.name } },
      }),
  };
}

export function disruptionBudget(suffix: string): ChildKind {
  return {
    kind: PodDisruptionBudget,
    suffix,
    build: (store) =>
      PodDisruptionBudget({
        name: `${store.metadata.name}-${suffix}`,
        labels: labelsOf(store),
        spec: { maxUnavailable: store.spec.maxUnavailable, selector: { matchLabels: { store: store.metadata.name } } },
      }),
  };
}

/** No controller runs it here: it is an object like any other. */
export function statefulSet(suffix: string): ChildKind {
  return {
    kind: StatefulSet,
    suffix,
    build: (store) =>
      StatefulSet({
        name: `${store.metadata.name}-${suffix}`,
        labels: labelsOf(store),
        annotations: { size: store.spec.storage },
        spec: {
          serviceName: store.metadata.name,
          replicas: store.spec.replicas,
          selector: { matchLabels: { store: store.metadata.name } },
          template: {
            metadata: { labels: { store: store.metadata.name } },
            spec: { containers: [{ name: "store", image: store.spec.image }] },
          },
        },
      }),
  };
}

/** A pod that does nothing. */
export function processOf(store: Stored<Store>, ordinal: number): Pod {
  return Pod({
    name: `${store.metadata.name}-process-${ordinal}`,
    labels: labelsOf(store),
    spec: { containers: [{ name: "store", image: store.spec.image }] },
  });
}

export function nameOf(store: Stored<Store>, child: ChildKind): string {
  return `${store.metadata.name}-${child.suffix}`;
}
