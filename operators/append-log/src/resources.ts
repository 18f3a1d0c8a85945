/** The pods and the claims of an AppendLog; pure. */
import { type Mount, restricted, securedPod, type ServerArchive } from "@setpoint/data-service";
import type { Stored } from "setpoint";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import type { AppendLog } from "./append-log.ts";

export const serverPort = 8_080;
export const serverUser = 65_532;
const dataPath = "/data";

export function memberName({ metadata }: AppendLog, index: number): string {
  return `${metadata.name}-${index}`;
}

export function addressOf(pod: Pod | undefined): string | undefined {
  const ip = pod?.status?.podIP;
  return ip === undefined || pod?.metadata.deletionTimestamp !== undefined ? undefined : `http://${ip}:${serverPort}`;
}

/** The claim of the first member, which restores prepare. */
export function firstClaim(log: Stored<AppendLog>): PersistentVolumeClaim {
  return claim(log, `data-${log.metadata.name}`);
}

/** The second member copies what the first one has, so that restored data get a new claim of their own. */
export function replicaClaim(log: Stored<AppendLog>, restored: string | undefined): PersistentVolumeClaim {
  return claim(log, `data-${log.metadata.name}-1${restored === undefined ? "" : `-${restored}`}`);
}

function claim({ metadata: { namespace = "" } }: Stored<AppendLog>, name: string): PersistentVolumeClaim {
  const resources = { requests: { storage: "64Mi" } };
  return PersistentVolumeClaim({ name, namespace, spec: { accessModes: ["ReadWriteOnce"], resources } });
}

/** The claim that a pod has its data on. */
export function claimOf(pod: Pod): string | undefined {
  return pod.spec?.volumes?.find(({ name }) => name === "data")?.persistentVolumeClaim?.claimName;
}

/** A server that has ended is not started again: the operator decides who goes on. */
export function serverPod(
  log: Stored<AppendLog>,
  { name, claimName, image }: { readonly name: string; readonly claimName: string; readonly image: string },
  archive: ServerArchive | undefined,
): Pod {
  const data: Mount = {
    volume: { name: "data", persistentVolumeClaim: { claimName } },
    path: dataPath,
    readOnly: false,
  };
  const mounts = [data, ...(archive?.mounts ?? [])];
  const server = {
    name: "server",
    image,
    args: ["serve", dataPath, String(serverPort)],
    env: archive === undefined ? [] : [archive.variable],
    ports: [{ containerPort: serverPort }],
    readinessProbe: { httpGet: { path: "/report", port: serverPort }, periodSeconds: 1 },
    ...restricted(mounts),
  };
  const { namespace = "" } = log.metadata;
  const spec = { restartPolicy: "Never" as const, ...securedPod(mounts, serverUser), containers: [server] };
  const labels = { "app.kubernetes.io/name": "append-log", "app.kubernetes.io/instance": log.metadata.name };
  return Pod({ name, namespace, labels, spec: { terminationGracePeriodSeconds: 5, ...spec } });
}
