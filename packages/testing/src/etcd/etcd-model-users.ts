/** Users of simulated etcd, with its rules: who may do what once authentication is on. */
import type { AuthRecord, EtcdData, SimulatedUser } from "./etcd-data.ts";
import { refusal } from "./etcd-refusal.ts";
import type { QuorumGroup } from "./quorum-group.ts";

const root = "root";

/** A user's name and password. */
export interface SimulatedLogin {
  readonly name: string;
  readonly password: string;
}

interface Leading {
  readonly data: EtcdData;
  readonly group: QuorumGroup;
}

/** Whether this release wants a login before it reports its status: since 3.5.32 and 3.6.12. */
export function asksBeforeStatus(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  if (major !== 3 || minor < 5) return major > 3;
  return minor === 5 ? patch >= 32 : minor > 6 || patch >= 12;
}

export class EtcdModelUsers {
  readonly #leading: (endpoint: string) => Promise<Leading>;

  /** `leading`: what a member that can reach a quorum sees. */
  constructor(leading: (endpoint: string) => Promise<Leading>) {
    this.#leading = leading;
  }

  async of(endpoint: string): Promise<AuthRecord> {
    return (await this.#leading(endpoint)).data.auth;
  }

  /** Throws when the cluster refuses the login. */
  async prove(endpoint: string, { name, password }: SimulatedLogin): Promise<void> {
    const { enabled, users } = await this.of(endpoint);
    if (!enabled) throw refusal("etcdserver: authentication is not enabled");
    if (users[name]?.password !== password)
      throw refusal("etcdserver: authentication failed, invalid user ID or password");
  }

  /** Throws unless the login is one that the cluster accepts, or authentication is off. */
  async enter(endpoint: string, login: SimulatedLogin | undefined): Promise<void> {
    if (!(await this.of(endpoint)).enabled) return;
    if (login === undefined) throw refusal("etcdserver: user name is empty");
    await this.prove(endpoint, login);
  }

  /** Throws unless the client is root, or authentication is off. */
  async admit(endpoint: string, login: SimulatedLogin | undefined): Promise<void> {
    if (!(await this.of(endpoint)).enabled) return;
    await this.enter(endpoint, login);
    if (login?.name !== root) throw refusal("etcdserver: permission denied");
  }

  async set(endpoint: string, name: string, user: SimulatedUser | undefined): Promise<void> {
    await this.#change(endpoint, ({ enabled, users: { [name]: _before, ...others } }) => ({
      enabled,
      users: user === undefined ? others : { ...others, [name]: user },
    }));
  }

  async enable(endpoint: string): Promise<void> {
    await this.#change(endpoint, ({ users }) => {
      if (users[root] === undefined) throw refusal("etcdserver: root user does not exist");
      return { enabled: true, users };
    });
  }

  async disable(endpoint: string): Promise<void> {
    await this.#change(endpoint, ({ users }) => ({ enabled: false, users }));
  }

  async #change(endpoint: string, next: (auth: AuthRecord) => AuthRecord): Promise<void> {
    const { data, group } = await this.#leading(endpoint);
    group.propose({ kind: "auth", auth: next(data.auth) });
  }
}
