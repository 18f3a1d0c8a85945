/** When nodes were last heard of, by the clock of this process alone. */
import type { Lease, Node } from "@setpoint/api";

/**
 * What a node writes is compared only with what it wrote before: the clocks of two machines differ, and any
 * of them may be set. A process that starts counts from then.
 */
export interface HeartbeatTimes {
  /** Milliseconds since the node's last new sign of life; `nowMs` is of a clock that nobody sets. */
  silenceMs(node: Node, lease: Lease | undefined, nowMs: number): number;
  /** Forgets all other nodes. */
  keep(names: readonly string[]): void;
}

interface Heard {
  readonly uid: string | undefined;
  readonly signMs: number;
  readonly atMs: number;
}

export function heartbeatTimes(): HeartbeatTimes {
  const known = new Map<string, Heard>();
  return {
    silenceMs(node, lease, nowMs) {
      const { name = "", uid } = node.metadata;
      const signMs = signOf(node, lease);
      const before = known.get(name);
      if (before?.uid === uid && before !== undefined && signMs <= before.signMs) return nowMs - before.atMs;
      known.set(name, { uid, signMs, atMs: nowMs });
      return 0;
    },
    keep(names) {
      if (known.size <= names.length) return;
      const kept = new Set(names);
      for (const name of known.keys()) if (!kept.has(name)) known.delete(name);
    },
  };
}

/** By the clock of the node: what it wrote last into its Lease or its heartbeat. */
function signOf({ status }: Node, lease: Lease | undefined): number {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return Math.max(
    ...[lease?.spec?.renewTime, ready?.lastHeartbeatTime].map((each) => Date.parse(each ?? "1970-01-01")),
  );
}
