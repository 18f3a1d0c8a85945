/** How a cluster is reached as root. It is kept: a check at rest sends no request to the API server. */
import { BoundedMap, type InstanceAccess } from "@setpoint/data-service";
import type { Stored } from "setpoint";
import { Pod } from "setpoint/kinds";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import type { EtcdCertificates, EtcdGateway, EtcdLogin } from "../gateway/etcd-gateway.ts";
import { memberEndpoint } from "../resources/member-pod.ts";
import { rootSecretName, wantsAuthentication } from "../resources/root-login.ts";
import { certificateSecret, operatorRole, serverName } from "../resources/tls.ts";

/** A voter that answers, with the login of root. */
interface Reached {
  readonly as: EtcdGateway;
  readonly endpoint: string;
}

interface Kept {
  /** What of the status it depends on. */
  readonly facts: string;
  readonly reached: Reached;
}

/** Enough for all clusters of an operator; what is forgotten is read again. */
const keptMax = 1_000;

export class ClusterAccess {
  readonly #gateway: EtcdGateway;
  /** By the UID of the cluster. */
  readonly #kept = new BoundedMap<string, Kept>(keptMax);

  constructor(gateway: EtcdGateway) {
    this.#gateway = gateway;
  }

  /**
   * A call that fails with what is kept is repeated with what the server says: the password or the address
   * may have changed.
   */
  async call(
    cluster: Stored<EtcdCluster>,
    access: InstanceAccess,
    send: (reached: Reached) => Promise<void>,
  ): Promise<void> {
    const facts = factsOf(cluster);
    const kept = this.#kept.get(cluster.metadata.uid);
    if (kept?.facts === facts) {
      try {
        return await send(kept.reached);
      } catch {
        access.signal.throwIfAborted();
      }
    }
    this.#kept.delete(cluster.metadata.uid);
    const reached = await reach(this.#gateway, cluster, access);
    await send(reached);
    this.#kept.set(cluster.metadata.uid, { facts, reached });
  }
}

function factsOf({ status }: EtcdCluster): string {
  return JSON.stringify([
    status?.tls,
    status?.restore,
    status?.members.map(({ name, healthy, role }) => [name, healthy, role]),
  ]);
}

async function reach(gateway: EtcdGateway, cluster: Stored<EtcdCluster>, access: InstanceAccess): Promise<Reached> {
  const tls = cluster.status?.tls === undefined ? undefined : await certificatesOf(cluster, access);
  const as = gateway.withCredentials({
    tls,
    login: wantsAuthentication(cluster) ? await rootLogin(cluster, access) : undefined,
  });
  const voters = (cluster.status?.members ?? []).filter(({ healthy, role }) => healthy && role !== "Learner");
  for (const { name } of voters) {
    const pod = await access.object(Pod, name);
    const endpoint = pod === undefined ? undefined : memberEndpoint(pod);
    if (endpoint !== undefined) return { as, endpoint };
  }
  throw new Error(`Cannot reach EtcdCluster "${cluster.metadata.name}": no healthy member has an address`);
}

async function rootLogin({ metadata: { name } }: Stored<EtcdCluster>, access: InstanceAccess): Promise<EtcdLogin> {
  const secret = rootSecretName(name);
  const { password } = await filesOf(secret, access);
  if (password === undefined)
    throw new Error(
      `Cannot reach EtcdCluster "${name}": Secret "${secret}" has no password of root; the conditions of the EtcdCluster say what to do`,
    );
  return { name: "root", password };
}

async function certificatesOf(cluster: Stored<EtcdCluster>, access: InstanceAccess): Promise<EtcdCertificates> {
  const files = await filesOf(certificateSecret(cluster.metadata.name, operatorRole(cluster)), access);
  const { "ca.crt": ca = "", "tls.crt": certificate = "", "tls.key": key = "" } = files;
  return { ca, certificate, key, serverName: serverName(cluster) };
}

/** The files of a Secret as text; none when there is no such Secret. */
export async function filesOf(name: string, access: InstanceAccess): Promise<Readonly<Record<string, string>>> {
  const files = Object.entries((await access.secret(name)) ?? {});
  return Object.fromEntries(files.map(([key, bytes]) => [key, Buffer.from(bytes).toString("utf8")]));
}
