/** Users of an EtcdCluster, for ServiceBindings. A user has a role of its own name with its rights. */
import type { InstanceAccess, Rights, UserAdministration } from "@setpoint/data-service";
import type { Stored } from "setpoint";
import { Pod } from "setpoint/kinds";
import type { EtcdCluster } from "./etcd-cluster.ts";
import type { EtcdCertificates, EtcdGateway, EtcdLogin, KeyRight } from "./gateway/etcd-gateway.ts";
import { clientPort } from "./member-names.ts";
import { memberEndpoint } from "./resources/member-pod.ts";
import { rootSecretName, wantsAuthentication } from "./resources/root-login.ts";
import { clientServiceName } from "./resources/services.ts";
import { certificateSecret, operatorRole, serverName } from "./resources/tls.ts";

/** Users over the gateway of the operator. */
export function etcdUsers(gateway: EtcdGateway): UserAdministration<EtcdCluster> {
  return {
    unavailable,
    async ensureUser(cluster, { user, password }, rights, access) {
      const granted = keyRights(rights);
      const { as, endpoint } = await reach(gateway, cluster, access);
      await as.ensureUser(endpoint, { name: user, password }, granted, access.signal);
    },
    async proveLogin(cluster, { user, password }, access) {
      const { as, endpoint } = await reach(gateway, cluster, access);
      await as.proveLogin(endpoint, { name: user, password }, access.signal);
    },
    // Keys have no owners, so there is nothing to inherit.
    async dropUser(cluster, user, _heir, access) {
      const { as, endpoint } = await reach(gateway, cluster, access);
      await as.dropUser(endpoint, user, access.signal);
    },
    async connection(cluster, _user, access) {
      const { name, namespace } = cluster.metadata;
      const host = `${clientServiceName(name)}.${namespace}.svc`;
      const { tls } = cluster.status ?? {};
      const scheme = tls === undefined ? "http" : "https";
      const place = { host, port: String(clientPort), uri: `${scheme}://${host}:${clientPort}` };
      return tls === undefined ? place : { ...place, ...(await filesOf(tls.clientSecret, access)) };
    },
  };
}

function unavailable(cluster: Stored<EtcdCluster>): string | undefined {
  if (!wantsAuthentication(cluster)) return "etcd asks clients for no login; set spec.auth.enabled to true";
  return cluster.status?.auth === undefined ? "authentication is not on yet" : undefined;
}

const accesses = { read: "READ", write: "WRITE", readwrite: "READWRITE" } as const;

/** A binding without rights gets all keys. */
function keyRights(rights: Rights): readonly KeyRight[] {
  const entries = Object.entries(rights);
  if (entries.length === 0) return [{ prefix: "", access: "READWRITE" }];
  return entries.map(([prefix, word]) => {
    if (word === "read" || word === "write" || word === "readwrite") return { prefix, access: accesses[word] };
    throw new Error(`Cannot grant rights["${prefix}"] "${word}": expected read, write or readwrite`);
  });
}

interface Reached {
  readonly as: EtcdGateway;
  readonly endpoint: string;
}

/** A voter that answers, with the login of root. */
async function reach(gateway: EtcdGateway, cluster: Stored<EtcdCluster>, access: InstanceAccess): Promise<Reached> {
  const tls = cluster.status?.tls === undefined ? undefined : await certificatesOf(cluster, access);
  const as = gateway.withCredentials({ tls, login: await rootLogin(cluster, access) });
  const voters = (cluster.status?.members ?? []).filter(({ healthy, role }) => healthy && role !== "Learner");
  for (const { name } of voters) {
    const pod = await access.object(Pod, name);
    const endpoint = pod === undefined ? undefined : memberEndpoint(pod);
    if (endpoint !== undefined) return { as, endpoint };
  }
  throw new Error(`Cannot change users of EtcdCluster "${cluster.metadata.name}": no healthy member has an address`);
}

async function rootLogin(
  { metadata: { name } }: Stored<EtcdCluster>,
  access: InstanceAccess,
): Promise<EtcdLogin | undefined> {
  const { password } = await filesOf(rootSecretName(name), access);
  return password === undefined ? undefined : { name: "root", password };
}

async function certificatesOf(cluster: Stored<EtcdCluster>, access: InstanceAccess): Promise<EtcdCertificates> {
  const files = await filesOf(certificateSecret(cluster.metadata.name, operatorRole(cluster)), access);
  const { "ca.crt": ca = "", "tls.crt": certificate = "", "tls.key": key = "" } = files;
  return { ca, certificate, key, serverName: serverName(cluster) };
}

/** The files of a Secret as text; none when there is no such Secret. */
async function filesOf(name: string, access: InstanceAccess): Promise<Readonly<Record<string, string>>> {
  const files = Object.entries((await access.secret(name)) ?? {});
  return Object.fromEntries(files.map(([key, bytes]) => [key, Buffer.from(bytes).toString("utf8")]));
}
