/**
 * The half of an engine that the operator calls. It reads and writes Kubernetes objects; data pass through
 * transfer pods only.
 */
import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "setpoint";
import type { ExternalInstance } from "../kinds/external-instance.ts";
import type { InstanceAccess } from "./instance-access.ts";
import type { EngineLog } from "./log.ts";
import type { EngineRoles } from "./roles.ts";
import type { EngineTarget } from "./target.ts";
import type { EngineVolumes } from "./volumes.ts";

/**
 * What a data service looks like from outside, whatever its engine. All of it comes from the instance's own
 * status.
 */
export interface InstanceState {
  /** Clients can write to it now. */
  readonly serving: boolean;
  /** Why it does not serve, or what it waits for. */
  readonly waitingFor?: string | undefined;
  readonly engineVersion: string;
  /** The `id` of the restore whose data it runs on; undefined when it has its own. */
  readonly restored?: string | undefined;
  /** All members have stopped for the restore with this `id`, and their volumes are kept. */
  readonly stoppedFor?: string | undefined;
}

/** How a transfer pod reaches the instance. */
export interface SnapshotSource {
  /** What the agent half needs, as JSON without secrets: endpoints, names. */
  readonly request: unknown;
  /** Secrets whose files the pod gets in one folder: client certificates, passwords. */
  readonly secretNames?: readonly string[];
}

/** How an engine reads data of instances that no operator runs. */
export interface ExternalSources {
  /** Why a client cannot connect with this; undefined when one may try. */
  refusal(external: ExternalInstance): string | undefined;
  /** As the engine's own source, with the Secrets that `external` names. */
  source(external: ExternalInstance): SnapshotSource;
}

/** What turns a snapshot file into the data folder of the first member, inside of a pod. */
export interface DataFolder {
  /** The image and command of the engine's own tool; absent when the agent itself can do it. */
  readonly image: string;
  readonly command: readonly string[];
  readonly user: number;
  /**
   * The claim that the first member will mount, complete with its spec; the engine's own names and labels.
   */
  readonly claim: KubeObject;
}

/** Where the tool of `DataFolder` finds the snapshot file and the claim. */
export interface DataFolderPaths {
  readonly snapshotFile: string;
  readonly claimFolder: string;
  /**
   * A folder of the claim. In a restore with a replay, and in no other, it has the files of `ReplaySettings`
   * and a folder `log` with the segments and the files that begin a timeline. The engine removes it when it
   * has replayed them.
   */
  readonly replayFolder: string;
}

/**
 * The rights of a user inside of an instance, in the engine's own terms: roles, prefixes of keys, databases.
 */
export type Rights = Readonly<Record<string, string>>;

/** One login of one binding. */
export interface UserCredentials {
  readonly user: string;
  readonly password: string;
}

/** Users inside of an instance. All functions are idempotent. */
export interface UserAdministration<Instance extends KubeObject> {
  /** Why the instance has no users now, and what to set; undefined when it has. */
  unavailable?(instance: Stored<Instance>): string | undefined;
  /** Creates the user, or gives the present one this password and these rights. */
  ensureUser(instance: Stored<Instance>, user: UserCredentials, rights: Rights, access: InstanceAccess): Promise<void>;
  /** Logs in as the user. Throws when the instance refuses the login. */
  proveLogin(instance: Stored<Instance>, user: UserCredentials, access: InstanceAccess): Promise<void>;
  /** Drops the user; what it owns inside of the instance goes to `heir` first, when the engine has owners. */
  dropUser(instance: Stored<Instance>, user: string, heir: string | undefined, access: InstanceAccess): Promise<void>;
  /**
   * What clients need besides user and password: host, port, uri, ca.crt, certificates. Keys as
   * servicebinding.io names them.
   */
  connection(
    instance: Stored<Instance>,
    user: UserCredentials,
    access: InstanceAccess,
  ): Promise<Readonly<Record<string, string>>>;
}

/** The half of an engine that the operator calls. */
export interface EngineControl<Instance extends KubeObject> {
  /**
   * A short name in lower case, such as "etcd": the type of its bindings, a label, and part of paths in
   * stores.
   */
  readonly name: string;
  readonly kind: KindRef<Instance>;
  state(instance: Stored<Instance>): InstanceState;
  source(instance: Stored<Instance>): SnapshotSource;
  /** Absent when the engine cannot back up instances that no operator runs. */
  readonly external?: ExternalSources;
  /** Why data cannot be restored into an instance with this spec; undefined when they can. */
  refusal?(instance: Instance): string | undefined;
  /** Why the instance cannot take data of an instance with this version; undefined when it can. */
  versionRefusal?(instance: Instance, engineVersion: string): string | undefined;
  /**
   * The data folder that a new first member starts from. `restoreId` makes its name, so that a repeated call
   * gives the same.
   */
  dataFolder(instance: Stored<Instance>, restoreId: string, paths: DataFolderPaths): DataFolder;
  /** A new instance for a restore, with the given name; `spec` is merged over the spec of the original. */
  newInstance(name: string, namespace: string, spec: object): Instance;
  readonly users?: UserAdministration<Instance>;
  /** Absent when changes cannot be archived beside backups. */
  readonly log?: EngineLog;
  /** Absent when a restore ends at a backup and at no other moment. */
  readonly target?: EngineTarget;
  /** Absent when each member has one claim, that of `dataFolder`. */
  readonly volumes?: EngineVolumes<Instance>;
  /** Absent when members are equal, or there is one. */
  readonly roles?: EngineRoles<Instance>;
}
