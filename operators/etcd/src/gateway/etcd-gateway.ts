/**
 * What the operator asks of etcd, by its JSON gateway (`/v3/...`, served since 3.4 under that prefix). Every
 * call names the client endpoint of one member. Calls reject with `EtcdError` when etcd refuses and with
 * another error when there is no answer within the deadline.
 */
export interface EtcdGateway {
  /** The membership as the quorum agrees on it; rejects when the member asked cannot reach a quorum. */
  members(endpoint: string, signal: AbortSignal): Promise<MemberList>;
  status(endpoint: string, signal: AbortSignal): Promise<MemberStatus>;
  /**
   * How far a member is that looks for a leader: it answers nothing but its metrics, at `metricsEndpoint`.
   */
  position(metricsEndpoint: string, signal: AbortSignal): Promise<MemberPosition>;
  /** How long its disk and its peers take, from its metrics, at `metricsEndpoint`. */
  measure(metricsEndpoint: string, signal: AbortSignal): Promise<MemberMeasurements>;
  /** Forgets the history up to a revision, and frees its pages; nothing happens when that is done already. */
  compact(endpoint: string, revision: number, signal: AbortSignal): Promise<void>;
  /** Gives free pages back to the file system; the member answers nothing else meanwhile. */
  defragment(endpoint: string, signal: AbortSignal): Promise<void>;
  /** Ends the alarm NOSPACE of all members. */
  disarm(endpoint: string, signal: AbortSignal): Promise<void>;
  addLearner(endpoint: string, peerUrl: string, signal: AbortSignal): Promise<void>;
  promote(endpoint: string, memberId: string, signal: AbortSignal): Promise<void>;
  remove(endpoint: string, memberId: string, signal: AbortSignal): Promise<void>;
  /** Asks the leader, whose endpoint this is, to hand over to another voter. */
  moveLeader(endpoint: string, targetId: string, signal: AbortSignal): Promise<void>;
  /** Whether the cluster asks clients for a login, and accepts that of this gateway. */
  authentication(endpoint: string, signal: AbortSignal): Promise<Authentication>;
  /** Makes the user root with the password of this gateway's login, and turns authentication on. */
  enableAuthentication(endpoint: string, signal: AbortSignal): Promise<void>;
  /**
   * Gives root the password of this gateway's login; the certificates of this gateway must be those of root.
   */
  resetRoot(endpoint: string, signal: AbortSignal): Promise<void>;
  /** Rejects with `EtcdError` when the cluster refuses the login. */
  proveLogin(endpoint: string, login: EtcdLogin, signal: AbortSignal): Promise<void>;
  /** Creates the user with a role of its own, or gives the present one this password and these rights. */
  ensureUser(endpoint: string, login: EtcdLogin, rights: readonly KeyRight[], signal: AbortSignal): Promise<void>;
  /** Drops a user and its role; nothing happens when both are gone. */
  dropUser(endpoint: string, user: string, signal: AbortSignal): Promise<void>;
  /** The value of a key as text; undefined when there is none. */
  readKey(endpoint: string, key: string, signal: AbortSignal): Promise<string | undefined>;
  /** Nothing happens when there is no such key. */
  deleteKey(endpoint: string, key: string, signal: AbortSignal): Promise<void>;
  /** The same, with these credentials. */
  withCredentials(credentials: EtcdCredentials): EtcdGateway;
}

/**
 * Off: every client may do everything. Refused: the cluster asks for a login, and does not accept this one.
 */
export type Authentication = "Off" | "On" | "Refused";

/** A user of etcd. */
export interface EtcdLogin {
  readonly name: string;
  readonly password: string;
}

/** What a user may do with all keys that begin with `prefix`; an empty one is that of all keys. */
export interface KeyRight {
  readonly prefix: string;
  readonly access: "READ" | "WRITE" | "READWRITE";
}

/** What a client needs to talk to a cluster. Nothing prints it. */
export interface EtcdCredentials {
  /** For endpoints that begin with `https`. */
  readonly tls?: EtcdCertificates | undefined;
  readonly login?: EtcdLogin | undefined;
}

/** What a client needs to talk to a cluster with TLS. */
export interface EtcdCertificates {
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
  /** A name that each member's certificate has; members are called by their addresses. */
  readonly serverName: string;
}

/** The members that the cluster agreed on, as one member lists them. */
export interface MemberList {
  readonly clusterId: string;
  readonly members: readonly ListedMember[];
}

/** IDs are hexadecimal, as etcd prints them. */
export interface ListedMember {
  readonly id: string;
  /** Empty until the member has started once. */
  readonly name: string;
  readonly peerUrls: readonly string[];
  readonly learner: boolean;
}

/** The state of one member, as it reports it itself. */
export interface MemberStatus {
  readonly memberId: string;
  readonly clusterId: string;
  readonly version: string;
  /** The ID of the leader that this member follows; empty when it knows none. */
  readonly leaderId: string;
  readonly learner: boolean;
  readonly raftIndex: number;
  readonly revision: number;
  /** The bytes of its file, and how many of them hold data. */
  readonly dbSize: number;
  readonly dbSizeInUse: number;
  /** Alarms such as NOSPACE. */
  readonly errors: readonly string[];
}

/** How far the log of a member is committed, as far as it knows. */
export interface MemberPosition {
  readonly raftIndex: number;
  readonly revision: number;
}

/** Counts since the start of its process. */
export interface MemberMeasurements {
  /**
   * Writes of the log that reached the disk within so many seconds, in ascending order; the last bound is
   * infinite.
   */
  readonly logWrites: readonly HistogramBucket[];
  readonly roundTrips: readonly RoundTrips[];
}

/** The probes of one peer since the start of the process. */
export interface RoundTrips {
  readonly peerId: string;
  readonly seconds: number;
  readonly count: number;
}

export interface HistogramBucket {
  readonly withinSeconds: number;
  readonly count: number;
}

/** A refusal of etcd, with its own words. */
export class EtcdError extends Error {
  override readonly name = "EtcdError";
  readonly brand: string = "etcd.setpoint.dev/EtcdError";
}

export function isEtcdError(error: unknown): error is EtcdError {
  return (
    typeof error === "object" &&
    error !== null &&
    (error as { brand?: unknown }).brand === "etcd.setpoint.dev/EtcdError"
  );
}

/** A voter has not started yet, and nobody knows when it will. */
export function waitsForStart(error: EtcdError): boolean {
  return /not enough started|not started/i.test(error.message);
}

/** Temporary refusals: the five-second rule for membership changes, and a learner that is not in sync yet. */
export function isNotYet(error: unknown): error is EtcdError {
  if (!isEtcdError(error)) return false;
  return (
    waitsForStart(error) ||
    /unhealthy cluster|not in sync|too many learner|leader changed|no leader/i.test(error.message)
  );
}
