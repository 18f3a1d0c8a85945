/**
 * Brings changes of settings and of the image to instances that run: replicas first, one at a time, and each
 * follows again before the next one; pure.
 */
import { wait } from "setpoint";
import { settingsOf } from "../kind/desired.ts";
import { isTemplateAsWanted, templateChange } from "../kind/instance-pod.ts";
import { lowerThan } from "../instance/server-limits.ts";
import { isStreaming, podState, type Seen, type SeenInstance } from "../seen/seen.ts";
import { isFenced } from "./fencing.ts";
import { act, lookAgainMs, type PostgresStep, recheckMs } from "./postgres-step.ts";

/** A pod that does not run, with an image that is no longer wanted: what it waits for may never come. */
export function planBroken(seen: Seen): PostgresStep | undefined {
  const { cluster, archive, instances } = seen;
  const broken = instances.find(({ name, pod, report }) => {
    if (pod === undefined || isFenced(seen, name) || isTemplateAsWanted(pod, cluster, archive)) return false;
    const state = podState(pod);
    return state === "starting" || state === "ended" || report?.server === "stopped";
  });
  return broken === undefined
    ? undefined
    : act("restartInstance", { instance: broken.name }, `${broken.name} does not run, and is no longer as wanted`);
}

/** The pod is made again: a new image comes along with what waits for a restart. */
export function planPods(seen: Seen): PostgresStep | undefined {
  const { cluster, archive, instances } = seen;
  const { primary } = cluster.status ?? {};
  const outdated = instances.filter(({ pod }) => pod !== undefined && !isTemplateAsWanted(pod, cluster, archive));
  const next = outdated.findLast(({ name }) => name !== primary) ?? outdated[0];
  if (next?.pod === undefined) return undefined;
  const what = templateChange(next.pod, cluster);
  const restart = act("restartInstance", { instance: next.name }, `${next.name}: ${what}; replicas first`);
  if (next.name !== primary) return withinWindow(seen, restart);
  return withinWindow(
    seen,
    handOver(seen, next.name, what) ??
      act("restartInstance", { instance: next.name }, `${next.name}: ${what}, and no replica can take over`),
  );
}

/** What waits for a restart, or is refused, is known when all have read the present settings. */
export function waitForReading({ instances }: Seen): PostgresStep | undefined {
  const reading = instances.filter(({ report }) => report?.server === "running" && report.hasReadSettings === false);
  const names = reading.map(({ name }) => name).join(", ");
  return reading.length === 0 ? undefined : wait(`settings are being read by ${names}`, lookAgainMs);
}

/** Nothing restarts for settings of which some are refused. */
export function planRefusedSettings({ instances }: Seen): PostgresStep | undefined {
  const errors = settingErrorsOf(instances);
  return errors.length === 0
    ? undefined
    : wait(`PostgreSQL refuses settings, and goes on with those from before: ${errors.join("; ")}`, recheckMs);
}

/** What the servers say about their settings, each once. */
export function settingErrorsOf(instances: readonly SeenInstance[]): readonly string[] {
  return [...new Set(instances.flatMap(({ report }) => report?.settingErrors ?? []))];
}

/** The server restarts in its pod. What is lowered for replicas too, the primary has to lower first. */
export function planServers(seen: Seen): PostgresStep | undefined {
  const { primary } = seen.cluster.status ?? {};
  const pending = seen.instances.filter(isPending);
  const next = pending.findLast(({ name }) => name !== primary) ?? pending[0];
  if (next === undefined) return undefined;
  if (next.report?.isRestarting === true) return wait(`the server of ${next.name} restarts`, lookAgainMs);
  const what = `${next.report?.pendingRestart?.join(", ") ?? ""} needs a restart`;
  return withinWindow(seen, next.name === primary ? restartPrimary(seen, next, what) : restartReplica(next, what));
}

function isPending({ report }: SeenInstance): boolean {
  return (report?.pendingRestart ?? []).length > 0;
}

function restartReplica(replica: SeenInstance, what: string): PostgresStep {
  return restartServer(replica, `${replica.name}: ${what}; replicas first`);
}

function restartPrimary(seen: Seen, primary: SeenInstance, what: string): PostgresStep {
  const lowered = lowerThan(settingsOf(seen.cluster, []).parameters, primary.report?.limits ?? {});
  if (lowered.length > 0)
    return restartServer(
      primary,
      `${primary.name}: ${what}; it restarts in place, because a replica cannot have less than it of ${lowered.join(", ")}`,
    );
  if (seen.cluster.spec.primaryUpdate === "restart")
    return restartServer(primary, `${primary.name}: ${what}; spec.primaryUpdate is restart`);
  return (
    handOver(seen, primary.name, what) ??
    restartServer(primary, `${primary.name}: ${what}, and no replica can take over`)
  );
}

function restartServer({ name, report }: SeenInstance, reason: string): PostgresStep {
  return act("restartServer", { instance: name, startedAt: report?.startedAt ?? "" }, reason);
}

/** Undefined when no replica can take over. */
function handOver({ instances }: Seen, primary: string, what: string): PostgresStep | undefined {
  const heir = instances.find((each) => isStreaming(each) && !isPending(each));
  return heir === undefined
    ? undefined
    : act(
        "depose",
        { primary, handover: "switchover", candidate: heir.name },
        `${primary}: ${what}; it is the last, and ${heir.name} takes over before it restarts`,
      );
}

/** What has begun with one instance is finished; the next one waits. */
function withinWindow({ closed }: Seen, step: PostgresStep): PostgresStep {
  return step.kind === "act" && closed !== undefined ? wait(`${step.reason}; ${closed}`, recheckMs) : step;
}
