/** The pod and the claim of a KeyValueStore; pure. */
import { planNamed } from "@setpoint/data-service";
import type { Stored } from "setpoint";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import type { KeyValueStore } from "./key-value-store.ts";

export const serverPort = 8_080;
export const serverUser = 65_532;
const dataPath = "/data";
export const keyValuePlans = Object.entries({ small: "1Gi", large: "8Gi" }).map(([name, gives]) => ({ name, gives }));

export function serverImage({ spec }: KeyValueStore): string {
  return `key-value.invalid/server:${spec.version}`;
}

/** The claim of a new store. */
export function firstClaim({ metadata, spec }: Stored<KeyValueStore>): PersistentVolumeClaim {
  const storage = spec.storage ?? planNamed(keyValuePlans, spec.plan)?.gives ?? "1Gi";
  return PersistentVolumeClaim({
    name: `data-${metadata.name}`,
    namespace: metadata.namespace ?? "",
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } },
  });
}

export function serverPod(store: Stored<KeyValueStore>, claimName: string): Pod {
  const { name, namespace = "" } = store.metadata;
  return Pod({
    name: `${name}-0`,
    namespace,
    spec: {
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: serverUser, fsGroup: serverUser },
      volumes: [{ name: "data", persistentVolumeClaim: { claimName } }],
      containers: [
        {
          name: "server",
          image: serverImage(store),
          command: ["key-value-server", "serve", dataPath],
          ports: [{ containerPort: serverPort }],
          volumeMounts: [{ name: "data", mountPath: dataPath }],
          readinessProbe: { httpGet: { path: "/health", port: serverPort }, periodSeconds: 1 },
        },
      ],
    },
  });
}

/** The claim that a pod of the server has mounted. */
export function claimOf(pod: Pod | undefined): string | undefined {
  return pod?.spec?.volumes?.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [])[0];
}
