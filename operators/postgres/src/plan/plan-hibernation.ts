/** Stops all instances of a cluster that hibernates, and wakes it with the same primary; pure. */
import { rest, wait } from "setpoint";
import { wakingMatter } from "../seen/matters.ts";
import { lastingMs } from "../seen/memory.ts";
import { acceptsWrites, primaryOf, type Seen } from "../seen/seen.ts";
import { isUpgradeHolding } from "../seen/upgrade.ts";
import { isFenced } from "./fencing.ts";
import { act, lookAgainMs, type PostgresStep, recheckMs } from "./postgres-step.ts";

/** A primary that stopped cleanly is back before; then the others start, and one may take over. */
const wakeMsMax = 60_000;

/** A restore or a change of the primary that has begun comes to its end before. */
export function isHibernated({ cluster, restore }: Seen): boolean {
  const { spec, status } = cluster;
  if (isUpgradeHolding(cluster)) return false;
  return spec.hibernated && status?.handover === undefined && (restore === undefined || restore.state === "done");
}

/** Until the primary accepts writes, nobody else may: the others start after it. */
export function isWaking(seen: Seen): boolean {
  const { spec, status } = seen.cluster;
  const primary = primaryOf(seen);
  if (status?.hibernation === undefined || spec.hibernated || primary?.claim === undefined) return false;
  if (isFenced(seen, primary.name)) return false;
  return (lastingMs(seen.memory, wakingMatter, seen.monotonicMs) ?? 0) < wakeMsMax;
}

/** Replicas first: the primary's last checkpoint then has everything, and it is the one to start with. */
export function planHibernation(seen: Seen): PostgresStep | undefined {
  if (!isHibernated(seen)) return undefined;
  const { instances, cluster } = seen;
  const { primary, hibernation } = cluster.status ?? {};
  const running = instances.filter(({ pod }) => pod !== undefined);
  const replicas = running.filter(({ name }) => name !== primary);
  const next = replicas.length > 0 ? replicas : running;
  const names = next.filter(({ pod }) => pod?.metadata.deletionTimestamp === undefined).map(({ name }) => name);
  const order = replicas.length > 0 ? "before the primary" : "last, with a checkpoint";
  const list = names.join(" and ");
  if (names.length > 0)
    return act("stopInstances", { instances: names }, `the cluster hibernates: ${list} stop${plural(names)} ${order}`);
  if (running.length > 0)
    return wait(
      `the cluster hibernates: ${next.map(({ name }) => name).join(" and ")} end${plural(next)}`,
      lookAgainMs,
    );
  return hibernation?.state === "Hibernated"
    ? rest(recheckMs)
    : act("hibernated", {}, "all instances have stopped, and their volumes are kept until spec.hibernated is false");
}

export function planWaking(seen: Seen): PostgresStep | undefined {
  const primary = primaryOf(seen);
  const isAsleep = seen.cluster.status?.hibernation !== undefined && !seen.cluster.spec.hibernated;
  if (!isAsleep || primary === undefined) return undefined;
  if (isFenced(seen, primary.name)) return act("awake", {}, `${primary.name}, the primary from before, is fenced`);
  if (!acceptsWrites(primary)) return undefined;
  return act("awake", {}, `${primary.name}, the primary from before, accepts writes again`);
}

function plural(names: readonly unknown[]): string {
  return names.length === 1 ? "s" : "";
}
