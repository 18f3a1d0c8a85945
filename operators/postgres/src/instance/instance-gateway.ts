/** How the operator reaches instance managers. */
import type { DroppedUser, Login, WantedUser } from "./user-protocol.ts";
import type { DesiredInstance, InstanceReport, LeaseRequest } from "./instance-protocol.ts";

export interface ManagerCertificates {
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
  /** A name that the manager's certificate must have. */
  readonly serverName: string;
}

/**
 * Talks to instance managers. Every call rejects when the manager gives no answer in two seconds; those about
 * users, in twenty.
 */
export interface InstanceGateway {
  /** The same gateway with these certificates. */
  readonly withCertificates: (certificates: ManagerCertificates) => InstanceGateway;
  /**
   * What an instance is. `lease` says who may be the primary at the moment: to that instance it is proof that
   * the operator reaches it, and it may go on for one lease.
   */
  readonly report: (address: string, lease: LeaseRequest | undefined, signal: AbortSignal) => Promise<InstanceReport>;
  /** Restarts the server that started at this moment; one that has been restarted since goes on. */
  readonly restart: (address: string, startedAt: string, signal: AbortSignal) => Promise<void>;
  /** Of the primary alone: creates a user of a binding, proves its login, or drops it. */
  readonly ensureUser: (address: string, user: WantedUser, signal: AbortSignal) => Promise<void>;
  readonly proveLogin: (address: string, login: Login, signal: AbortSignal) => Promise<void>;
  readonly dropUser: (address: string, user: DroppedUser, signal: AbortSignal) => Promise<void>;
  /** Says what an instance should be; resolves to what it is at that moment. */
  readonly instruct: (address: string, desired: DesiredInstance, signal: AbortSignal) => Promise<InstanceReport>;
}
