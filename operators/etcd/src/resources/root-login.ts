/** The Secret with the login of etcd's root, which the operator uses. */
import { Secret } from "setpoint/kinds";
import { type EtcdCluster } from "../kind/etcd-cluster.ts";
import type { EtcdLogin } from "../gateway/etcd-gateway.ts";
import { labels } from "../kind/member-names.ts";
import { placeOf } from "./tls.ts";

/** etcd's own name of the user that may do everything. */
const rootUser = "root";
const secretType = "kubernetes.io/basic-auth";

export function rootSecretName(cluster: string): string {
  return `${cluster}-root`;
}

/** Which Secrets are logins of root: certificates have the same label and another type. */
export const rootSecrets = { labelSelector: labels.cluster, fieldSelector: `type=${secretType}` } as const;

/** The key of the cluster whose login a Secret is, by its label. */
export function clusterOfRootSecret({
  metadata: { namespace = "", labels: marks },
}: Secret): readonly { readonly name: string; readonly namespace: string }[] {
  const name = marks?.[labels.cluster];
  return name === undefined ? [] : [{ name, namespace }];
}

/** Why the operator is not let in; `isMissing`: the Secret does not exist. */
export function refusedLoginText(cluster: string, isMissing: boolean): string {
  const secret = `Secret "${rootSecretName(cluster)}"`;
  return isMissing
    ? `${secret} is gone, and the operator does not know the password of root that was in it`
    : `etcd refuses the login of root in ${secret}`;
}

/** The same, and what a user has to do where the operator has no certificate of root. */
export function lostLoginText(cluster: string, isMissing: boolean): string {
  const text = refusedLoginText(cluster, isMissing);
  const reason = "without TLS the operator cannot set another one";
  if (!isMissing) return `${text}: write the password of root into it; ${reason}`;
  return `${text}: create it with type ${secretType}, the label ${labels.cluster}=${cluster}, username root and that password; ${reason}`;
}

/** The Secret belongs to its cluster, and goes with it. */
export function rootSecret(cluster: EtcdCluster, password: string): Secret {
  const { name = "", namespace = "" } = cluster.metadata;
  const text = (value: string): string => Buffer.from(value).toString("base64");
  const secret = Secret({
    name: rootSecretName(name),
    namespace,
    labels: { [labels.cluster]: name },
    type: secretType,
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
