/**
 * The right to accept writes, for a few seconds at a time; pure. A primary goes on while the operator reaches
 * it, or while a majority of all instances, itself counted, says that it may. So a primary that is cut off
 * from both stops by its own clock, and the operator may promote another instance once that time has passed.
 */
import { leaseMs, type LeaseAnswer, type LeaseRequest } from "../instance/instance-protocol.ts";

/** What this instance follows: the term that it has seen, and who may be the primary in it. */
export interface LeaseView {
  readonly term: number;
  readonly primary?: string | undefined;
}

export class PrimaryLease {
  #byOperatorUntilMs = Number.NEGATIVE_INFINITY;
  readonly #byPeerUntilMs = new Map<string, number>();

  /** The operator reached this instance and named it the primary of its term. */
  renewByOperator(nowMs: number): void {
    this.#byOperatorUntilMs = nowMs + leaseMs;
  }

  /** A peer granted what was asked at `askedMs`: its answer may have been under way for long. */
  renewByPeer(peer: string, askedMs: number): void {
    this.#byPeerUntilMs.set(peer, askedMs + leaseMs);
  }

  /** Another term has begun: what was granted before counts no more. */
  forget(): void {
    this.#byOperatorUntilMs = Number.NEGATIVE_INFINITY;
    this.#byPeerUntilMs.clear();
  }

  /** Whether this instance, one of `peers`, may accept writes now. A single instance always may. */
  isHeld(nowMs: number, peers: readonly string[]): boolean {
    if (peers.length <= 1 || nowMs < this.#byOperatorUntilMs) return true;
    const granted = peers.filter((peer) => nowMs < (this.#byPeerUntilMs.get(peer) ?? Number.NEGATIVE_INFINITY));
    return 1 + granted.length > peers.length / 2;
  }
}

/** A newer term than the holder's, or another primary in the same one, ends the holder's time. */
export function answerLease({ holder, term }: LeaseRequest, view: LeaseView): LeaseAnswer {
  return { isGranted: term === view.term && holder === view.primary, term: view.term };
}
