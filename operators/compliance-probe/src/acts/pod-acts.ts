/** Pods as strong as their node. Where the account may create pods, Pod Security must refuse these. */
import type { RequestAct } from "./api-verdict.ts";
import type { ApiRequest, Surroundings } from "./probed-pod.ts";

interface PodFields {
  readonly pod?: object;
  readonly container?: object;
}

const label = "label the namespace pod-security.kubernetes.io/enforce=baseline, or restricted";

/** A dry run: nothing is created, and admission decides as always. */
function podRequest({ namespace, image }: Surroundings, { pod = {}, container = {} }: PodFields): ApiRequest {
  const containers = [{ name: "probe", image, ...container }];
  const body = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "compliance-probe-none" },
    spec: { containers, ...pod },
  };
  return { method: "POST", path: `/api/v1/namespaces/${namespace}/pods?dryRun=All`, body };
}

function podAct(name: string, tries: string, because: string, fields: PodFields): RequestAct {
  return {
    name,
    severity: "high",
    tries,
    because,
    remedy: label,
    request: (surroundings) => podRequest(surroundings, fields),
  };
}

export const podAttempts: readonly RequestAct[] = [
  {
    name: "pod-create",
    severity: "medium",
    tries: "create a pod",
    because: "a pod can use every service account and every Secret of its namespace",
    remedy: "grant the creation of pods and of workloads to deployers, not to the workload itself",
    request: (surroundings) => podRequest(surroundings, {}),
  },
  podAct("pod-privileged", "create a privileged pod", "it has all devices and capabilities of the node", {
    container: { securityContext: { privileged: true } },
  }),
  podAct("pod-host-network", "create a pod in the network of the host", "it reaches what listens on the node alone", {
    pod: { hostNetwork: true },
  }),
  podAct("pod-host-pid", "create a pod that sees the processes of the host", "it reads their memory and arguments", {
    pod: { hostPID: true },
  }),
  podAct("pod-host-path", "create a pod that mounts the root of the host", "it reads and changes the node", {
    pod: { volumes: [{ name: "host", hostPath: { path: "/" } }] },
  }),
  podAct("pod-capabilities", "create a pod with SYS_ADMIN", "this capability is nearly that of root of the node", {
    container: { securityContext: { capabilities: { add: ["SYS_ADMIN"] } } },
  }),
];
