/** Addresses that a workload must not reach. */
import { type Act, allowed, type Attempt, denied, untried } from "./act.ts";
import { errorCode, type ProbedPod } from "./probed-pod.ts";

const policy = "add a NetworkPolicy for egress that allows what the workload needs";

/** Whether a server answers a request with its data. */
async function answers(pod: ProbedPod, url: string, sendsToken = false): Promise<Attempt> {
  try {
    const { code, message } = await pod.fetch(url, { sendsToken });
    if (code === 401 || code === 403) return denied(`${url} answered ${code} ${message}`);
    return code < 400 ? allowed(`${url} answered ${code}`) : denied(`${url} answered ${code}`);
  } catch (error) {
    return denied(`${url}: ${errorCode(error)}`);
  }
}

async function reachesMetadata(pod: ProbedPod): Promise<Attempt> {
  try {
    const { code } = await pod.fetch("http://169.254.169.254/");
    return allowed(`169.254.169.254 answered ${code}`);
  } catch (error) {
    return denied(`169.254.169.254: ${errorCode(error)}`);
  }
}

/** One answer is enough. */
async function anyAnswers(pod: ProbedPod, urls: readonly string[]): Promise<Attempt> {
  const attempts = await Promise.all(urls.map((url) => answers(pod, url)));
  return (
    attempts.find(({ verdict }) => verdict === "Allowed") ?? denied(attempts.map(({ reason }) => reason).join(", "))
  );
}

/** IPv6 addresses stand in brackets. */
function urlHost(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}

/** Some networks reject what a policy denies, and others drop it. */
function refusalOf(error: unknown): string {
  const code = errorCode(error);
  return code === "ECONNREFUSED" ? `${code}, by a policy or because nothing listens there` : code;
}

type ServiceAttempt = (service: { readonly host: string; readonly port: number }) => Promise<string>;

async function deniedServices(pod: ProbedPod, use: ServiceAttempt): Promise<Attempt> {
  const { deniedServices: services } = pod.surroundings;
  if (services.length === 0) return untried("spec.deniedServices names no service");
  const refusals: string[] = [];
  for (const service of services) {
    const at = service.lastIndexOf(":");
    try {
      return allowed(await use({ host: service.slice(0, at), port: Number(service.slice(at + 1)) }));
    } catch (error) {
      refusals.push(`${service}: ${refusalOf(error)}`);
    }
  }
  return denied(refusals.join(", "));
}

const acts: readonly Omit<Act, "group">[] = [
  {
    name: "metadata-address",
    severity: "high",
    tries: "reach the metadata address 169.254.169.254",
    because: "clouds give the credentials of the node there",
    remedy:
      "add a NetworkPolicy for egress without 169.254.169.254/32, and ask for session tokens (IMDSv2) in the cloud",
    attempt: reachesMetadata,
  },
  {
    name: "kubelet-port",
    severity: "high",
    tries: "list pods at port 10250 of its node with its own token",
    because: "the kubelet runs commands in every container of the node",
    remedy: "start kubelets with --anonymous-auth=false and --authorization-mode=Webhook",
    attempt: (pod) => answers(pod, `https://${urlHost(pod.surroundings.nodeAddress)}:10250/pods`, true),
  },
  {
    name: "kubelet-anonymous",
    severity: "high",
    tries: "list pods at port 10250 of its node without a login",
    because: "the kubelet runs commands in every container of the node",
    remedy: "start kubelets with --anonymous-auth=false",
    attempt: (pod) => answers(pod, `https://${urlHost(pod.surroundings.nodeAddress)}:10250/pods`),
  },
  {
    name: "kubelet-read-only-port",
    severity: "medium",
    tries: "list pods at port 10255 of its node",
    because: "the port shows the specs and environments of all pods of the node to everyone",
    remedy: "start kubelets with --read-only-port=0",
    attempt: (pod) => answers(pod, `http://${urlHost(pod.surroundings.nodeAddress)}:10255/pods`),
  },
  {
    name: "etcd-port",
    severity: "high",
    tries: "read from an etcd on its node",
    because: "the etcd of the control plane has all Secrets",
    remedy: "start etcd with --client-cert-auth, and let it listen where pods do not reach it",
    attempt: (pod) => {
      const host = urlHost(pod.surroundings.nodeAddress);
      return anyAnswers(pod, [`http://${host}:2379/version`, `https://${host}:2379/version`]);
    },
  },
  {
    name: "denied-service-resolve",
    severity: "low",
    tries: "resolve the name of a denied service",
    because: "names show an attacker what there is",
    remedy: "deny egress to the cluster DNS, or answer names by namespace",
    attempt: (pod) => deniedServices(pod, async ({ host }) => `${host} resolves to ${await pod.resolve(host)}`),
  },
  {
    name: "denied-service-reach",
    severity: "high",
    tries: "connect to a denied service",
    because: "the spec says that this workload has no business with it",
    remedy: policy,
    attempt: (pod) =>
      deniedServices(pod, async ({ host, port }) => {
        await pod.reach(host, port);
        return `${host}:${port} can be reached`;
      }),
  },
];

export const networkActs: readonly Act[] = acts.map((each): Act => ({ ...each, group: "network" }));
