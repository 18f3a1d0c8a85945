/** The pod of one transfer; pure. */
import { Pod } from "setpoint/kinds";
import { agentPaths, type AgentRequest, type ProbeRequest, requestVariable } from "../agent/request.ts";
import { dataLabels } from "../kinds/labels.ts";
import type { BackupStore } from "../kinds/backup-store.ts";
import { type Mount, secretsMount, storeMounts } from "./store-mounts.ts";

/**
 * The user of transfer pods: any but root, and the same always, because it owns the files in a store of kind
 * `claim`.
 */
export const transferUser = 65_532;
/** Streams hold little in memory; the rest is Node itself. */
const resources = { requests: { cpu: "50m", memory: "128Mi" }, limits: { cpu: "1", memory: "512Mi" } };
/** Room for what libraries write to /tmp; a backup never passes through it. */
const scratchSize = "64Mi";
/** An agent that receives SIGTERM leaves what it has half written to the next attempt. */
const graceSeconds = 10;

/** What one transfer needs. */
export interface Transfer {
  readonly name: string;
  readonly namespace: string;
  /** The kind of the object that the transfer is for, in lower case. */
  readonly owner: string;
  readonly request: AgentRequest;
  readonly store: BackupStore;
  /** The image of the operator. */
  readonly image: string;
  readonly deadlineSeconds: number;
  /** The Secrets that the engine's source names. */
  readonly sourceSecrets?: readonly string[] | undefined;
}

/** The same without a store. */
export interface ProbeInit extends Omit<Transfer, "request" | "store"> {
  readonly request: ProbeRequest;
}

type AgentPod = Omit<Transfer, "request" | "store"> & { readonly request: AgentRequest | ProbeRequest };

type PodSpec = NonNullable<Pod["spec"]>;
type Container = PodSpec["containers"][number];

/**
 * A pod that passes the PodSecurity level `restricted`. It has no service account token, so it cannot use the
 * API, and it is never restarted: the operator decides about another attempt.
 */
export function transferPod(transfer: Transfer): Pod {
  const { request, store } = transfer;
  const mounts = [...storeMounts(store, isWriting(request)), ...sourceMounts(transfer), scratch()];
  return podOf(transfer, mounts, { containers: [agentContainer(transfer, mounts)] });
}

function sourceMounts({ sourceSecrets = [] }: Pick<Transfer, "sourceSecrets">): readonly Mount[] {
  return agentMounts("source", sourceSecrets, agentPaths.sourceSecret);
}

/** The files of these Secrets in one folder; nothing when there are none. */
export function agentMounts(name: string, secretNames: readonly string[], path: string): readonly Mount[] {
  return secretNames.length === 0 ? [] : [secretsMount(name, secretNames, path)];
}

/** A pod that acts as a client of an instance. It has the same limits as a transfer, and no store. */
export function probePod(init: ProbeInit): Pod {
  const mounts = [...sourceMounts(init), scratch()];
  return podOf(init, mounts, { containers: [agentContainer(init, mounts)] });
}

/** The parts of a pod that all transfers share, with the user that the containers run as. */
export function podOf(
  { name, namespace, owner, request, deadlineSeconds }: AgentPod,
  mounts: readonly Mount[],
  containers: Pick<PodSpec, "containers" | "initContainers">,
  runAsUser: number = transferUser,
): Pod {
  return Pod({
    name,
    namespace,
    labels: { [dataLabels.task]: request.task, [dataLabels.owner]: owner },
    spec: {
      restartPolicy: "Never",
      activeDeadlineSeconds: deadlineSeconds,
      terminationGracePeriodSeconds: graceSeconds,
      ...securedPod(mounts, runAsUser),
      ...containers,
    },
  });
}

/** What every pod of the operator's image has: no token, a user without privileges, its volumes. */
export function securedPod(mounts: readonly Mount[], runAsUser: number = transferUser): Omit<PodSpec, "containers"> {
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser,
      runAsGroup: runAsUser,
      fsGroup: runAsUser,
      fsGroupChangePolicy: "OnRootMismatch",
      seccompProfile: { type: "RuntimeDefault" },
    },
    volumes: mounts.map(({ volume }) => volume),
  };
}

/** The container that runs the agent of the operator's image. */
export function agentContainer({ image, request }: AgentPod, mounts: readonly Mount[]): Container {
  return {
    name: "agent",
    image,
    args: ["agent"],
    env: [{ name: requestVariable, value: JSON.stringify(request) }],
    ...restricted(mounts),
  };
}

/** What every container of a transfer has: no privileges, a read-only root, limits and its mounts. */
export function restricted(mounts: readonly Mount[]): Omit<Container, "name" | "image"> {
  return {
    imagePullPolicy: "IfNotPresent",
    resources,
    // An agent writes its result itself; of one that cannot, and of an engine's tool, the log tells.
    terminationMessagePolicy: "FallbackToLogsOnError",
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
    volumeMounts: mounts.map(({ volume, path, readOnly }) => ({
      name: volume.name,
      mountPath: path,
      ...(readOnly ? { readOnly } : {}),
    })),
  };
}

/** An empty folder in memory for the files that libraries may write. */
export function scratch(): Mount {
  return {
    volume: { name: "scratch", emptyDir: { medium: "Memory", sizeLimit: scratchSize } },
    path: "/tmp",
    readOnly: false,
  };
}

function isWriting({ task }: AgentRequest): boolean {
  return task === "backup" || task === "delete" || task === "damage";
}
