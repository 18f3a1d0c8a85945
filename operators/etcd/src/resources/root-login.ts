/** The Secret with the login of etcd's root, which the operator uses. */
import { Secret } from "setpoint/kinds";
import { type EtcdCluster } from "../etcd-cluster.ts";
import type { EtcdLogin } from "../gateway/etcd-gateway.ts";
import { labels } from "../member-names.ts";
import { placeOf } from "./tls.ts";

/** etcd's own name of the user that may do everything. */
const rootUser = "root";

export function rootSecretName(cluster: string): string {
  return `${cluster}-root`;
}

/** The Secret belongs to its cluster, and goes with it. */
export function rootSecret(cluster: EtcdCluster, password: string): Secret {
  const { name = "", namespace = "" } = cluster.metadata;
  const text = (value: string): string => Buffer.from(value).toString("base64");
  const secret = Secret({
    name: rootSecretName(name),
    namespace,
    labels: { [labels.cluster]: name },
    type: "kubernetes.io/basic-auth",
    data: { username: text(rootUser), password: text(password) },
  });
  return { ...secret, metadata: { ...secret.metadata, ownerReferences: [placeOf(cluster).owner] } };
}

/** The login in the data of a Secret; undefined when there is no password in it. */
export function rootLoginOf({ data = {} }: Pick<Secret, "data">): EtcdLogin | undefined {
  const password = Buffer.from(data["password"] ?? "", "base64").toString();
  return password === "" ? undefined : { name: rootUser, password };
}

export function wantsAuthentication({ spec }: EtcdCluster): boolean {
  return spec.auth?.enabled === true;
}
