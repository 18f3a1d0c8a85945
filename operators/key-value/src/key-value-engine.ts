/** The half of the engine that the operator calls. */
import {
  type EngineControl,
  preparedClaim,
  type Rights,
  type UserAdministration,
  type UserCredentials,
} from "@setpoint/data-service";
import { KeyValueStore } from "./key-value-store.ts";
import { firstClaim, serverImage, serverPort, serverUser } from "./resources.ts";

/** What a server can do about its users. */
export interface KeyValueUsers {
  set(store: string, login: UserCredentials, rights: Rights): Promise<void>;
  /** Throws when the server refuses the login. */
  login(store: string, login: UserCredentials): Promise<void>;
  drop(store: string, user: string): Promise<void>;
}

/** The engine "key-value"; with `users`, it has bindings. */
export function keyValueEngine(users?: KeyValueUsers): EngineControl<KeyValueStore> {
  return users === undefined ? engine : { ...engine, users: administration(users) };
}

function administration(users: KeyValueUsers): UserAdministration<KeyValueStore> {
  return {
    ensureUser: ({ metadata: { name } }, login, rights) => users.set(name, login, rights),
    proveLogin: ({ metadata: { name } }, login) => users.login(name, login),
    // Keys have no owners, so there is nothing to inherit.
    dropUser: ({ metadata: { name } }, user) => users.drop(name, user),
    async connection({ metadata: { name, namespace } }) {
      return { host: `${name}.${namespace}.svc`, port: String(serverPort) };
    },
  };
}

const engine: EngineControl<KeyValueStore> = {
  name: "key-value",
  kind: KeyValueStore,
  state({ spec, status }) {
    return {
      serving: status?.serving ?? false,
      waitingFor: status?.serving === true ? undefined : "its pod is not ready",
      engineVersion: spec.version,
      restored: status?.restored,
      stoppedFor: status?.stoppedFor,
    };
  },
  source: ({ status }) => ({ request: { url: `http://${status?.podIP ?? ""}:${serverPort}/snapshot` } }),
  dataFolder: (store, restoreId, { snapshotFile, claimFolder }) => ({
    image: serverImage(store),
    command: ["key-value-server", "restore", snapshotFile, claimFolder],
    user: serverUser,
    claim: preparedClaim(store, firstClaim(store), restoreId),
  }),
  // The spec was checked by the server when the Restore was created, or is refused by it now.
  // The API server checks it: the status of the Restore reports a spec that the schema refuses.
  newInstance: (name, namespace, spec) => KeyValueStore({ name, namespace, spec: spec as KeyValueStore["spec"] }),
};
