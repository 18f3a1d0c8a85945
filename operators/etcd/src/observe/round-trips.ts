/** The average round-trip times between members over a window, from two samples of their metrics; pure. */
import type { RoundTrips } from "../gateway/etcd-gateway.ts";

/** etcd probes each peer every 30 s; this is enough of them for an average. */
const windowMs = 600_000;
const probesMin = 5;

/** The two members with the longest average. */
export interface RoundTripBaseline {
  readonly member: string;
  readonly peerId: string;
  readonly averageMs: number;
}

interface Window {
  readonly pod: string;
  readonly startMs: number;
  readonly start: readonly RoundTrips[];
  readonly slowest: RoundTripBaseline | undefined;
}

/**
 * The window of each member, by a clock that nobody sets. A new process of the operator or of a member begins
 * a new one.
 */
export type RoundTripWindows = ReadonlyMap<string, Window>;

export function noteRoundTrips(
  windows: RoundTripWindows,
  { member, pod }: { readonly member: string; readonly pod: string },
  roundTrips: readonly RoundTrips[],
  nowMs: number,
): RoundTripWindows {
  const window = windows.get(member);
  const begun = { pod, startMs: nowMs, start: roundTrips };
  if (window?.pod !== pod) return new Map([...windows, [member, { ...begun, slowest: undefined }]]);
  if (nowMs - window.startMs < windowMs) return windows;
  return new Map([...windows, [member, { ...begun, slowest: slowestOf(member, window.start, roundTrips) }]]);
}

/** Undefined until each of these members has been measured for a whole window. */
export function baselineOf(windows: RoundTripWindows, names: readonly string[]): RoundTripBaseline | undefined {
  const all = names.map((name) => windows.get(name)?.slowest);
  const known = all.filter((each) => each !== undefined);
  if (known.length === 0 || known.length < all.length) return undefined;
  return known.reduce((slowest, each) => (each.averageMs > slowest.averageMs ? each : slowest));
}

function slowestOf(
  member: string,
  before: readonly RoundTrips[],
  after: readonly RoundTrips[],
): RoundTripBaseline | undefined {
  const averages = after.flatMap(({ peerId, seconds, count }) => {
    const first = before.find((each) => each.peerId === peerId) ?? { seconds: 0, count: 0 };
    const probes = count - first.count;
    return probes < probesMin ? [] : [{ member, peerId, averageMs: (1_000 * (seconds - first.seconds)) / probes }];
  });
  return averages.toSorted((a, b) => b.averageMs - a.averageMs)[0];
}
