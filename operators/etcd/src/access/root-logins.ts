/**
 * Reads and makes the login of root, once for each cluster. Passwords pass through here and go nowhere else.
 */
import { BoundedMap } from "@setpoint/data-service";
import { isNotFound, type ReconcileContext, type Stored } from "setpoint";
import { Secret } from "setpoint/kinds";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import type { EtcdLogin } from "../gateway/etcd-gateway.ts";
import { labels } from "../kind/member-names.ts";
import { rootLoginOf, rootSecret, rootSecretName, wantsAuthentication } from "../resources/root-login.ts";

type Context = Pick<ReconcileContext, "client" | "host" | "signal">;

/** A login that is kept, and whether its Secret is to be read again before it is used. */
interface Kept {
  readonly login: EtcdLogin;
  readonly isDoubted: boolean;
}

/** What an observation learns of the login of root. */
export interface RootLogin {
  /** Undefined without authentication, and when this process has never read it. */
  readonly login?: EtcdLogin | undefined;
  /** Whether its Secret does not exist. */
  readonly isMissing: boolean;
}

/** 192 bits. */
const passwordBytes = 24;
/** Enough for all clusters of an operator; a forgotten login is read again. */
const rememberedMax = 1_000;

export class RootLogins {
  /** By the UID of the cluster. */
  readonly #logins = new BoundedMap<string, Kept>(rememberedMax);

  /**
   * `shown` is the Secret in the cache. At rest it has the login that is kept, and the server is asked for
   * nothing. The login that is kept outlives its Secret: the operator goes on with it.
   */
  async observe(cluster: EtcdCluster, shown: Secret | undefined, context: Context): Promise<RootLogin> {
    if (!wantsAuthentication(cluster)) return { isMissing: false };
    const kept = this.#logins.get(uidOf(cluster));
    const isSame = kept !== undefined && shown !== undefined && rootLoginOf(shown)?.password === kept.login.password;
    if (isSame && !kept.isDoubted) return { login: kept.login, isMissing: false };
    const secret = await readSecret(cluster, context);
    if (secret === undefined) return { login: kept?.login, isMissing: true };
    return { login: this.#keep(secret, cluster), isMissing: false };
  }

  /** Undefined without authentication, and without a Secret of which this process knows the login. */
  async read(cluster: EtcdCluster, context: Context): Promise<EtcdLogin | undefined> {
    if (!wantsAuthentication(cluster)) return undefined;
    const kept = this.#logins.get(uidOf(cluster));
    if (kept !== undefined && !kept.isDoubted) return kept.login;
    const secret = await readSecret(cluster, context);
    return secret === undefined ? kept?.login : this.#keep(secret, cluster);
  }

  /** The same, and makes the Secret when there is none: with the login that is kept, or a new password. */
  async ensure(cluster: EtcdCluster, context: Context): Promise<EtcdLogin> {
    const present = await readSecret(cluster, context);
    const known = this.#logins.get(uidOf(cluster))?.login;
    const login = this.#keep(present ?? (await createSecret(cluster, known, context)), cluster);
    if (login === undefined)
      throw new Error(
        `Cannot use Secret "${rootSecretName(cluster.metadata.name ?? "")}": it has no password; delete it`,
      );
    return login;
  }

  /** The next call reads the Secret again. */
  doubt(cluster: EtcdCluster): void {
    const kept = this.#logins.get(uidOf(cluster));
    if (kept !== undefined) this.#logins.set(uidOf(cluster), { ...kept, isDoubted: true });
  }

  #keep(secret: Secret, cluster: EtcdCluster): EtcdLogin | undefined {
    const login = ownLogin(secret, cluster);
    if (login !== undefined) this.#logins.set(uidOf(cluster), { login, isDoubted: false });
    return login;
  }
}

function uidOf({ metadata: { uid = "" } }: EtcdCluster): string {
  return uid;
}

/** A Secret that a user has made for the cluster has its label and no owner. */
function ownLogin(secret: Secret, { metadata: { name = "", uid } }: EtcdCluster): EtcdLogin | undefined {
  const { ownerReferences = [], labels: marks = {} } = secret.metadata;
  const isGiven = ownerReferences.length === 0 && marks[labels.cluster] === name;
  if (!isGiven && !ownerReferences.some((owner) => owner.uid === uid))
    throw new Error(`Cannot use Secret "${rootSecretName(name)}": it belongs to another owner; rename or delete it`);
  return rootLoginOf(secret);
}

function createSecret(
  cluster: EtcdCluster,
  known: EtcdLogin | undefined,
  { client, host, signal }: Context,
): Promise<Stored<Secret>> {
  const password = known?.password ?? Buffer.from(host.random.bytes(passwordBytes)).toString("base64url");
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
