/**
 * What the operator and the instance managers say to each other, as JSON over HTTPS with certificates on both
 * sides. The operator sends what an instance should be; a manager answers what it is. Nothing here is a
 * command: a document that is sent twice changes nothing.
 */
import type { ServerLimits } from "./server-limits.ts";
import type { UpgradeReport, WantedUpgrade } from "./upgrade-protocol.ts";

/** How long a manager that grants the primary's lease keeps its word, and a primary may go on by one. */
export const leaseMs = 4_000;
/** Clocks of two machines drift, and a server needs time to stop. */
export const leaseMarginMs = 1_000;

/**
 * How long a deposed primary may take to stop. It accepts no commits from the first moment, and its replicas
 * receive the rest of the log meanwhile.
 */
export const cleanStopMs = 30_000;

export interface Peer {
  readonly name: string;
  readonly host: string;
}

/** What an instance should be. */
export interface DesiredInstance {
  /** Of the last change of the primary; a manager refuses an older one. */
  readonly term: number;
  /** The instance that may accept writes; absent between two primaries. */
  readonly primary?: string | undefined;
  /** Whether the former primary is known to accept no more writes, so that `primary` may promote itself. */
  readonly mayPromote: boolean;
  /** The very first start: `primary` creates the data when it has none. */
  readonly isFirstStart: boolean;
  /** What the first start fills the data with. */
  readonly import?: WantedImport | undefined;
  /** The server whose files the first start copies. */
  readonly baseBackup?: OtherServer | undefined;
  /** All instances, this one among them. */
  readonly peers: readonly Peer[];
  readonly settings: ServerSettings;
  /** Instances whose servers stay stopped. */
  readonly fenced?: readonly string[] | undefined;
  /** The major version of the data that the cluster runs on. */
  readonly dataVersion?: string | undefined;
  /** What the change of the major version asks of an instance. */
  readonly upgrade?: WantedUpgrade | undefined;
  /** Whether data from before an upgrade are deleted. */
  readonly dropsSafetyCopy?: boolean | undefined;
}

/** A server that is no instance of the cluster; what logs in to it is in files of the pod. */
export interface OtherServer {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly sslMode: string;
}

/** What the first start imports. */
export interface WantedImport {
  readonly from: OtherServer;
  /** Whether one database becomes that of the application, with its owner. */
  readonly isMicroservice: boolean;
  /** `*` stands for all. */
  readonly databases: readonly string[];
  readonly roles: readonly string[];
  readonly hasRolePasswords: boolean;
}

/** What configuration files say. */
export interface ServerSettings {
  readonly parameters: Readonly<Record<string, string>>;
  readonly accessRules: readonly string[];
  /** Whether each segment of the log is to be archived before it may go. */
  readonly isArchived: boolean;
  /** The value of synchronous_standby_names. */
  readonly synchronousStandbyNames: string;
  readonly database: { readonly name: string; readonly owner: string };
  /** The memory that the server may use, when it is limited. */
  readonly memoryMegabytes?: number | undefined;
}

export type ServerState = "stopped" | "starting" | "running" | "stopping";

/** What an instance is. */
export interface InstanceReport {
  readonly name: string;
  /** The highest that it has seen; 0 before the first one. */
  readonly term: number;
  /** A hash of the document that it follows; empty before the first one. */
  readonly follows: string;
  readonly data: "none" | "present";
  readonly systemId?: string | undefined;
  readonly version?: string | undefined;
  readonly server: ServerState;
  /** Whether the server accepts writes; absent while it does not answer. */
  readonly isPrimary?: boolean | undefined;
  readonly timeline?: number | undefined;
  /** Up to where it has written the log as the primary, or received it as a replica; `0/3000148`. */
  readonly position?: string | undefined;
  readonly replayed?: string | undefined;
  /** Whether it receives the log of the primary now. */
  readonly isStreaming?: boolean | undefined;
  /** When the server started, in seconds since the epoch; what names it when it is to be restarted. */
  readonly startedAt?: string | undefined;
  /** Whether it restarts for settings, until it runs again. */
  readonly isRestarting?: boolean | undefined;
  /** Whether the server has read what it accepts of this document; until then the rest is of an older one. */
  readonly hasReadSettings?: boolean | undefined;
  /** Settings that wait for a restart of the server. */
  readonly pendingRestart?: readonly string[] | undefined;
  /** What the server runs with. */
  readonly limits?: ServerLimits | undefined;
  /** Settings and access rules that the server refuses, with its reason. */
  readonly settingErrors?: readonly string[] | undefined;
  /** What the archiver beside the server says of the archive, as it wrote it. */
  readonly archive?: unknown;
  /** What it says of the upgrade that its document asks for. */
  readonly upgrade?: UpgradeReport | undefined;
  /** The major version of the data from before an upgrade, as long as its volume has them. */
  readonly safetyCopy?: string | undefined;
  /** Whether statistics are computed for upgraded data; without them queries are slow. */
  readonly isAnalyzing?: boolean | undefined;
  /** What it does now or cannot do, in one sentence. */
  readonly message?: string | undefined;
}

/** May `holder` go on as the primary of `term`? */
export interface LeaseRequest {
  readonly holder: string;
  readonly term: number;
}

export interface LeaseAnswer {
  readonly isGranted: boolean;
  readonly term: number;
}

/** Bytes between two positions of the log; negative when `to` is before `from`. */
export function bytesBetween(from: string, to: string): number {
  return Number(positionOf(to) - positionOf(from));
}

/** `16/B374D848` is two halves of 32 bits, in hexadecimal. */
export function positionOf(text: string): bigint {
  const match = /^([0-9A-Fa-f]{1,8})\/([0-9A-Fa-f]{1,8})$/.exec(text);
  if (match === null)
    throw new Error(`Cannot read the position "${text}" of a log: expected two hexadecimal numbers such as 0/3000148`);
  return (BigInt(`0x${match[1]}`) << 32n) | BigInt(`0x${match[2]}`);
}

/** Keys in a fixed order, so that equal documents have equal texts. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  const sorted = entries.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([key, each]) => `${JSON.stringify(key)}:${canonicalText(each)}`).join(",")}}`;
}
