/**
 * The right to work of a manager: as the only process, as the leader of several, or as one of a group that
 * shares the keys.
 */
import { SetpointError } from "@setpoint/apimachinery";
import { createClient } from "@setpoint/client";
import { randomSuffix, type Host } from "@setpoint/host";
import { errManagerOptions } from "../errors.ts";
import { LeaderElector } from "../coordination/leader-elector.ts";
import type { LeaseHolder } from "../coordination/lease-holder.ts";
import { ShardMember } from "../coordination/shard-member.ts";
import { ShardPermits } from "../coordination/shard-permits.ts";
import type { ManagerOptions } from "./manager-options.ts";
import type { ShardingOptions } from "../coordination/lease-options.ts";

const leaseDurationSecondsDefault = 15;
const renewDeadlineSecondsDefault = 10;
const retryPeriodSecondsDefault = 2;
const drainSecondsDefault = 30;
/** A Lease's name may have 253 characters, of which nine are the suffix. */
const identityLengthMax = 240;

export type ManagerLease =
  | { readonly kind: "alone"; readonly identity: string }
  | { readonly kind: "elected"; readonly identity: string; readonly holder: LeaderElector }
  | { readonly kind: "sharded"; readonly identity: string; readonly holder: ShardMember };

export function createManagerLease(
  options: ManagerOptions,
  onChanged: (slots: ReadonlySet<number>) => void,
): ManagerLease {
  const { transport, host, leaderElection, sharding, name = "setpoint" } = options;
  if (leaderElection !== undefined && sharding !== undefined)
    throw new SetpointError(
      errManagerOptions,
      `Cannot start manager "${name}": it sets both leaderElection and sharding; remove one of them`,
    );
  const suffix = randomSuffix(host.random, 8);
  const random = `${name}_${suffix}`;
  if (leaderElection !== undefined) {
    // Two processes that were given one name must not take the other's Lease for their own.
    const holderIdentity = `${leaderElection.identity ?? name}_${suffix}`;
    const client = createClient(transport, clientOptionsOf(host));
    const holder = new LeaderElector(client, host, { ...leaderElection, identity: holderIdentity });
    return { kind: "elected", identity: leaderElection.identity ?? random, holder };
  }
  if (sharding === undefined) return { kind: "alone", identity: random };
  const identity = sharding.identity ?? `${name}-${randomSuffix(host.random, 8)}`;
  return { kind: "sharded", identity, holder: createShardMember(options, sharding, identity, onChanged) };
}

export function leaseHolderOf(each: ManagerLease): LeaseHolder | undefined {
  return each.kind === "alone" ? undefined : each.holder;
}

function createShardMember(
  { transport, host }: ManagerOptions,
  sharding: ShardingOptions,
  identity: string,
  onChanged: (slots: ReadonlySet<number>) => void,
): ShardMember {
  const times = timesOf(sharding);
  const permits = new ShardPermits({
    clock: host.clock,
    drainMsMax: (sharding.drainSeconds ?? drainSecondsDefault) * 1_000,
    marginMs: times.leaseDurationMs - times.renewDeadlineMs,
    shardBy: sharding.shardBy?.bind(sharding) ?? ((key) => key),
  });
  const { name, namespace } = sharding;
  const leaseName = `${identity.slice(0, identityLengthMax)}-${randomSuffix(host.random, 8)}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, "-");
  const client = createClient(transport, clientOptionsOf(host));
  return new ShardMember(client, host, { name, namespace, identity, leaseName, ...times }, permits, onChanged);
}

function timesOf(sharding: ShardingOptions): {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
} {
  const {
    leaseDurationSeconds = leaseDurationSecondsDefault,
    renewDeadlineSeconds = renewDeadlineSecondsDefault,
    retryPeriodSeconds = retryPeriodSecondsDefault,
  } = sharding;
  if (renewDeadlineSeconds >= leaseDurationSeconds || retryPeriodSeconds >= renewDeadlineSeconds)
    throw new SetpointError(
      "ERR_LEASE_OPTIONS",
      `Cannot share the keys of "${sharding.name}": the retry period (${retryPeriodSeconds} s) must be shorter than the renew deadline (${renewDeadlineSeconds} s), and that shorter than the lease (${leaseDurationSeconds} s)`,
    );
  return {
    leaseDurationMs: leaseDurationSeconds * 1_000,
    renewDeadlineMs: renewDeadlineSeconds * 1_000,
    retryPeriodMs: retryPeriodSeconds * 1_000,
  };
}

function clientOptionsOf({ clock, random, metrics }: Host): Pick<Host, "clock" | "random" | "metrics"> {
  return { clock, random, metrics };
}
