/** The Secret with which the application logs in, with the keys that libraries and frameworks look for. */
import { Secret } from "setpoint/kinds";
import type { ReconcileContext } from "setpoint";
import { labels } from "./labels.ts";
import { appSecretName, postgresPort } from "./names.ts";
import type { PostgresCluster } from "./postgres-cluster.ts";

const passwordBytes = 24;

/** Only these Secrets are watched. */
export const loginSecrets = { labelSelector: `${labels.login}=true` } as const;

/** The key of the cluster whose login it is, by its label. */
export function clusterOfLogin({
  metadata: { namespace = "", labels: marks },
}: Secret): readonly { readonly name: string; readonly namespace: string }[] {
  const name = marks?.[labels.cluster];
  return name === undefined ? [] : [{ name, namespace }];
}

/** The kind and the object to create. */
export function newLogin(
  cluster: PostgresCluster,
  random: ReconcileContext["host"]["random"],
): [typeof Secret, Secret] {
  const { apiVersion, kind, metadata, spec } = cluster;
  const { name = "", namespace = "", uid = "" } = metadata;
  const database = spec.database?.name ?? "app";
  const username = spec.database?.owner ?? "app";
  const password = Buffer.from(random.bytes(passwordBytes)).toString("base64url");
  const host = `${name}-rw.${namespace}.svc`;
  const stringData = {
    username,
    password,
    dbname: database,
    host,
    port: String(postgresPort),
    uri: `postgresql://${username}:${password}@${host}:${postgresPort}/${database}?sslmode=require`,
    "jdbc-uri": `jdbc:postgresql://${host}:${postgresPort}/${database}?user=${username}&password=${password}&sslmode=require`,
    pgpass: `${host}:${postgresPort}:${database}:${username}:${password}\n`,
  };
  const owner = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
  return [
    Secret,
    Secret({
      name: appSecretName(name),
      namespace,
      labels: { [labels.cluster]: name, [labels.login]: "true" },
      ownerReferences: [owner],
      type: "kubernetes.io/basic-auth",
      stringData,
    } as Parameters<typeof Secret>[0]),
  ];
}
