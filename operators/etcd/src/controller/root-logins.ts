/**
 * Reads and makes the login of root, once for each cluster. Passwords pass through here and go nowhere else.
 */
import { BoundedMap } from "@setpoint/data-service";
import { isNotFound, type ReconcileContext, type Stored } from "setpoint";
import { Secret } from "setpoint/kinds";
import type { EtcdCluster } from "../etcd-cluster.ts";
import type { EtcdLogin } from "../gateway/etcd-gateway.ts";
import { rootLoginOf, rootSecret, rootSecretName, wantsAuthentication } from "../resources/root-login.ts";

type Context = Pick<ReconcileContext, "client" | "host" | "signal">;

/** 192 bits. */
const passwordBytes = 24;
/** Enough for all clusters of an operator; a forgotten login is read again. */
const rememberedMax = 1_000;

export class RootLogins {
  /** By the UID of the cluster. */
  readonly #logins = new BoundedMap<string, EtcdLogin>(rememberedMax);

  /** Undefined without authentication, and while there is no Secret. */
  async read(cluster: EtcdCluster, context: Context): Promise<EtcdLogin | undefined> {
    if (!wantsAuthentication(cluster)) return undefined;
    const { uid = "" } = cluster.metadata;
    const known = this.#logins.get(uid);
    if (known !== undefined) return known;
    const secret = await readSecret(cluster, context);
    const login = secret === undefined ? undefined : ownLogin(secret, cluster);
    if (login !== undefined) this.#logins.set(uid, login);
    return login;
  }

  /** The same, and makes the Secret when there is none. */
  async ensure(cluster: EtcdCluster, context: Context): Promise<EtcdLogin> {
    this.forget(cluster);
    const present = await readSecret(cluster, context);
    const secret = present ?? (await createSecret(cluster, context));
    const login = ownLogin(secret, cluster);
    if (login === undefined)
      throw new Error(
        `Cannot use Secret "${rootSecretName(cluster.metadata.name ?? "")}": it has no password; delete it`,
      );
    return login;
  }

  /** The next call reads the Secret again. */
  forget({ metadata: { uid = "" } }: EtcdCluster): void {
    this.#logins.delete(uid);
  }
}

function ownLogin(secret: Secret, { metadata: { name = "", uid } }: EtcdCluster): EtcdLogin | undefined {
  if (secret.metadata.ownerReferences?.some((owner) => owner.uid === uid) !== true)
    throw new Error(`Cannot use Secret "${rootSecretName(name)}": it belongs to another owner; rename or delete it`);
  return rootLoginOf(secret);
}

function createSecret(cluster: EtcdCluster, { client, host, signal }: Context): Promise<Stored<Secret>> {
  const password = Buffer.from(host.random.bytes(passwordBytes)).toString("base64url");
  return client.create(Secret, rootSecret(cluster, password), { signal });
}

async function readSecret(cluster: EtcdCluster, { client, signal }: Context): Promise<Stored<Secret> | undefined> {
  const { name = "", namespace = "" } = cluster.metadata;
  try {
    return await client.get(Secret, { name: rootSecretName(name), namespace }, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
