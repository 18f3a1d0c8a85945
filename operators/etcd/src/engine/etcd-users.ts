/** Users of an EtcdCluster, for ServiceBindings. A user has a role of its own name with its rights. */
import type { Rights, UserAdministration } from "@setpoint/data-service";
import type { Stored } from "setpoint";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import type { EtcdGateway, KeyRight } from "../gateway/etcd-gateway.ts";
import { clientPort } from "../kind/member-names.ts";
import { ClusterAccess, filesOf } from "../access/cluster-access.ts";
import { wantsAuthentication } from "../resources/root-login.ts";
import { clientServiceName } from "../resources/services.ts";

/** Users over the gateway of the operator. */
export function etcdUsers(gateway: EtcdGateway): UserAdministration<EtcdCluster> {
  const clusters = new ClusterAccess(gateway);
  return {
    unavailable,
    async ensureUser(cluster, { user, password }, rights, access) {
      const granted = keyRights(rights);
      await clusters.call(cluster, access, ({ as, endpoint }) =>
        as.ensureUser(endpoint, { name: user, password }, granted, access.signal),
      );
    },
    async proveLogin(cluster, { user, password }, access) {
      await clusters.call(cluster, access, ({ as, endpoint }) =>
        as.proveLogin(endpoint, { name: user, password }, access.signal),
      );
    },
    // Keys have no owners, so there is nothing to inherit.
    async dropUser(cluster, user, _heir, access) {
      await clusters.call(cluster, access, ({ as, endpoint }) => as.dropUser(endpoint, user, access.signal));
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
  const { auth, waitingFor } = cluster.status ?? {};
  if (auth !== undefined) return undefined;
  return `authentication is not on yet${waitingFor === undefined ? "" : `: ${waitingFor.what}`}`;
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
