/** Users of a PostgresCluster, for ServiceBindings; the primary's manager changes them. */
import type { InstanceAccess, Rights, UserAdministration, UserCredentials } from "@setpoint/data-service";
import type { Stored } from "setpoint";
import { Pod } from "setpoint/kinds";
import type { InstanceGateway } from "../instance/instance-gateway.ts";
import type { DatabaseRight } from "../instance/user-protocol.ts";
import { certificateSecret } from "../kind/certificates.ts";
import { managerAddress } from "../kind/instance-pod.ts";
import { postgresPort, serverName } from "../kind/names.ts";
import type { PostgresCluster } from "../kind/postgres-cluster.ts";

type Cluster = Stored<PostgresCluster>;

/** Users over the gateway of the operator. */
export function postgresUsers(gateway: InstanceGateway): UserAdministration<PostgresCluster> {
  return {
    unavailable: (cluster) =>
      cluster.status?.primary === undefined ? "the cluster has no primary at the moment" : undefined,
    async ensureUser(cluster, { user, password }, rights, access) {
      const wanted = { user, password, rights: databaseRights(cluster, rights) };
      const { as, address } = await reach(gateway, cluster, access);
      await as.ensureUser(address, wanted, access.signal);
    },
    async proveLogin(cluster, { user, password }, access) {
      const { as, address } = await reach(gateway, cluster, access);
      await as.proveLogin(address, { user, password, database: databaseOf(cluster) }, access.signal);
    },
    async dropUser(cluster, user, heir, access) {
      const { as, address } = await reach(gateway, cluster, access);
      await as.dropUser(address, heir === undefined ? { user } : { user, heir }, access.signal);
    },
    connection,
  };
}

async function reach(
  gateway: InstanceGateway,
  cluster: Cluster,
  access: InstanceAccess,
): Promise<{ readonly as: InstanceGateway; readonly address: string }> {
  const { name } = cluster.metadata;
  const files = await filesOf(certificateSecret(name, "operator"), access);
  const { "ca.crt": ca = "", "tls.crt": certificate = "", "tls.key": key = "" } = files;
  const primary = cluster.status?.primary ?? "";
  const address = managerAddress(await access.object(Pod, primary));
  if (address === undefined) throw new Error(`Cannot reach the primary "${primary}" of PostgresCluster "${name}"`);
  return { as: gateway.withCertificates({ ca, certificate, key, serverName: serverName(cluster) }), address };
}

async function filesOf(secret: string, access: InstanceAccess): Promise<Readonly<Record<string, string>>> {
  const files = (await access.secret(secret)) ?? {};
  return Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes).toString("utf8")]));
}

function databaseOf({ spec }: PostgresCluster): string {
  return spec.database?.name ?? "app";
}

/** A binding without rights acts as the owner of the application's database. */
export function databaseRights(cluster: PostgresCluster, rights: Rights): readonly DatabaseRight[] {
  const entries = Object.entries(rights);
  if (entries.length === 0) return [{ database: databaseOf(cluster), access: "owner" }];
  return entries.map(([database, access]) => {
    if (access === "owner" || access === "readwrite" || access === "readonly") return { database, access };
    throw new Error(`Cannot grant rights["${database}"] "${access}": expected owner, readwrite or readonly`);
  });
}

async function connection(
  cluster: Cluster,
  { user, password }: UserCredentials,
  access: InstanceAccess,
): Promise<Readonly<Record<string, string>>> {
  const { name, namespace } = cluster.metadata;
  const host = `${name}-rw.${namespace}.svc`;
  const database = databaseOf(cluster);
  const { "ca.crt": authority } = await filesOf(certificateSecret(name, "server"), access);
  return {
    host,
    port: String(postgresPort),
    database,
    uri: `postgresql://${user}:${password}@${host}:${postgresPort}/${database}?sslmode=require`,
    ...(authority === undefined ? {} : { "ca.crt": authority }),
  };
}
