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

  /** Throws unless the client is root, or authentication is off. */
  async admit(endpoint: string, login: SimulatedLogin | undefined): Promise<void> {
    const { enabled } = await this.of(endpoint);
    if (!enabled) return;
    if (login === undefined) throw refusal("etcdserver: user name is empty");
    await this.prove(endpoint, login);
    if (login.name !== root) throw refusal("etcdserver: permission denied");
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
