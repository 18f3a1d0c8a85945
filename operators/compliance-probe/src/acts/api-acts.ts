/** Reads of the API that a workload has no business with. */
import { type Act, allowed, denied } from "./act.ts";
import { requestAct, type RequestAct } from "./api-verdict.ts";
import { errorCode, type ProbedPod } from "./probed-pod.ts";

const leastRights = "bind the service account to a role with the verbs and resources that the workload uses";
/** No object has this name: whether it exists is not the question. */
const nothing = "compliance-probe-none";

const requests: readonly RequestAct[] = [
  {
    name: "api-anonymous",
    severity: "high",
    tries: "list namespaces without a login",
    because: "who reaches the API server could read the cluster without being known",
    remedy:
      "remove role bindings of system:anonymous and system:unauthenticated, or start the server with --anonymous-auth=false",
    request: () => ({ method: "GET", path: "/api/v1/namespaces", isAnonymous: true }),
  },
  {
    name: "secret-get-other-namespace",
    severity: "high",
    tries: "get a Secret of another namespace",
    because: "Secrets of other teams and of the system open everything that they protect",
    remedy: leastRights,
    request: ({ otherNamespace }) => ({
      method: "GET",
      path: `/api/v1/namespaces/${otherNamespace}/secrets/${nothing}`,
    }),
  },
  {
    name: "secret-list-other-namespace",
    severity: "high",
    tries: "list the Secrets of another namespace",
    because: "a list has the content of all Secrets",
    remedy: leastRights,
    request: ({ otherNamespace }) => ({ method: "GET", path: `/api/v1/namespaces/${otherNamespace}/secrets?limit=1` }),
  },
  {
    name: "secret-list-everywhere",
    severity: "high",
    tries: "list the Secrets of all namespaces",
    because: "a list has the content of all Secrets, tokens of administrators too",
    remedy: leastRights,
    request: () => ({ method: "GET", path: "/api/v1/secrets?limit=1" }),
  },
  {
    name: "secret-list-own-namespace",
    severity: "medium",
    tries: "list the Secrets of its own namespace",
    because: "a workload gets the Secrets that it needs as files; a list has those of its neighbours",
    remedy: leastRights,
    request: ({ namespace }) => ({ method: "GET", path: `/api/v1/namespaces/${namespace}/secrets?limit=1` }),
  },
  {
    name: "pod-logs-other-namespace",
    severity: "medium",
    tries: "read the log of a pod of another namespace",
    because: "logs have personal data and, by mistake, passwords",
    remedy: leastRights,
    request: ({ otherNamespace }) => ({
      method: "GET",
      path: `/api/v1/namespaces/${otherNamespace}/pods/${nothing}/log`,
    }),
  },
  {
    name: "node-list",
    severity: "low",
    tries: "list the nodes",
    because: "addresses and versions of nodes are where an attack on them begins",
    remedy: leastRights,
    request: () => ({ method: "GET", path: "/api/v1/nodes?limit=1" }),
  },
  {
    name: "node-proxy",
    severity: "high",
    tries: "reach the kubelet of its node through the API server",
    because: "nodes/proxy runs commands in every container of the node",
    remedy: "grant nodes/proxy to nobody; metrics need nodes/metrics alone",
    request: ({ node }) => ({ method: "GET", path: `/api/v1/nodes/${node}/proxy/pods` }),
  },
];

const everything: Act = {
  name: "everything",
  group: "api",
  severity: "high",
  tries: "do everything with every resource",
  because: "such an account is an administrator of the cluster, and so is each pod that uses it",
  remedy: "remove the binding to cluster-admin, or to another role with verb * and resource *",
  attempt: attemptEverything,
};

/** The server itself says whether it would allow it, so nothing is done. */
async function attemptEverything(pod: ProbedPod): ReturnType<Act["attempt"]> {
  const body = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes: { verb: "*", group: "*", resource: "*" } },
  };
  try {
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const answer = await pod.api({ method: "POST", path, body });
    if (answer === undefined) return denied("the pod has no token for the API server");
    return /"allowed":\s*true/.test(answer.body)
      ? allowed("the API server says that the account may do everything")
      : denied("the API server says that the account may not");
  } catch (error) {
    return denied(`the pod does not reach the API server: ${errorCode(error)}`);
  }
}

export const apiActs: readonly Act[] = [...requests.map((each) => requestAct("api", each)), everything];
