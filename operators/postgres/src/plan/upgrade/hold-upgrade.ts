/**
 * Changes the major version of the data while no client writes: the primary stops, the replicas have all that
 * it wrote, its data are upgraded, and all instances start on them. What fails goes back to the data from
 * before; pure.
 */
import { wait } from "setpoint";
import { bytesBetween } from "../../instance/instance-protocol.ts";
import { isTemplateAsWanted } from "../../kind/instance-pod.ts";
import { lastingMs } from "../../seen/memory.ts";
import { acceptsWrites, instanceNamed, type Seen, type SeenInstance } from "../../seen/seen.ts";
import { upgradedInstance, upgradeOf, upgradePhase, upgradeSilence, type UpgradeStatus } from "../../seen/upgrade.ts";
import { isFenced } from "../fencing.ts";
import { planInstructions } from "../plan-instructions.ts";
import { act, lookAgainMs, type PostgresStep } from "../postgres-step.ts";
import { withoutProblems } from "./plan-upgrade.ts";

/** Its pod may have to start again on another node. */
const silenceMsMax = 300_000;
/** A primary that stopped cleanly has sent everything before. */
const receiveMsMax = 60_000;
/** Images may have to be pulled. */
const startMsMax = 600_000;

export function planHeldUpgrade(seen: Seen): PostgresStep | undefined {
  const upgrade = upgradeOf(seen);
  switch (upgrade?.phase) {
    case "Stopping":
      return beforeUpgrade(seen, upgrade) ?? stop(seen, upgrade);
    case "Upgrading":
      return beforeUpgrade(seen, upgrade) ?? upgradeData(seen, upgrade);
    case "Starting":
      return start(seen, upgrade);
    case "Returning":
      return goBack(seen, upgrade);
    default:
      return undefined;
  }
}

/** The data are those from before, whatever goes wrong. */
function beforeUpgrade(seen: Seen, upgrade: UpgradeStatus): PostgresStep | undefined {
  const { asked } = seen;
  const { from, to, instance } = upgrade;
  if (asked.version === from) return fail(upgrade, [`spec.version is ${from} again`]);
  const silentMs = lastingMs(seen.memory, upgradeSilence, seen.monotonicMs) ?? 0;
  if (silentMs >= silenceMsMax)
    return fail(upgrade, [`${instance} has not answered for ${Math.round(silentMs / 1_000)} s`]);
  const { pod, report, failure } = upgradedInstance(seen) ?? {};
  if (pod === undefined) return act("startInstances", { instances: [instance] }, `${instance} has no pod`);
  if (report === undefined)
    return wait(
      `${instance} does not answer, before its data become those of PostgreSQL ${to}${because(failure)}`,
      lookAgainMs,
    );
  return planInstructions(seen);
}

function stop(seen: Seen, upgrade: UpgradeStatus): PostgresStep {
  const { report, name = "" } = upgradedInstance(seen) ?? {};
  if (report?.server !== "stopped") return wait(`the server of ${name} stops`, lookAgainMs);
  const { position } = report;
  const behind = seen.instances.filter((each) => each.name !== name && !hasReceived(seen, each, position));
  if (behind.length === 0)
    return act(
      "advanceUpgrade",
      { upgrade: { ...upgrade, phase: "Upgrading" } },
      `${name} has stopped at ${position ?? "its last position"}, and the replicas have all of it`,
    );
  const names = behind.map((each) => each.name).join(" and ");
  const elapsedMs = lastingMs(seen.memory, upgradePhase("Stopping"), seen.monotonicMs) ?? 0;
  return elapsedMs < receiveMsMax
    ? wait(`${names}: receives the end of the log, up to ${position}`, lookAgainMs)
    : fail(upgrade, [`${names} did not receive the end of the log of ${name}, up to ${position}`]);
}

/** The last record begins at the position of the checkpoint. */
function hasReceived(seen: Seen, { name, report, claim }: SeenInstance, position: string | undefined): boolean {
  if (isFenced(seen, name) || claim === undefined) return true;
  if (report === undefined || position === undefined) return false;
  return [report.position, report.replayed].some((each) => each !== undefined && bytesBetween(position, each) > 0);
}

function upgradeData(seen: Seen, upgrade: UpgradeStatus): PostgresStep {
  const { report, name = "" } = upgradedInstance(seen) ?? {};
  const { to, id } = upgrade;
  const said = report?.upgrade?.id === id ? report.upgrade : undefined;
  if (said?.state === "failed") return fail(upgrade, said.problems ?? []);
  if (said?.state !== "upgraded" || said.systemId === undefined)
    return wait(`the data of ${name} are copied, and become those of PostgreSQL ${to}`, lookAgainMs);
  return act(
    "startOnVersion",
    {
      upgrade: { ...upgrade, phase: "Starting" },
      version: to,
      image: seen.asked.image,
      systemId: said.systemId,
    },
    `the data of ${name} are those of PostgreSQL ${to}: all instances start on it`,
  );
}

function start(seen: Seen, upgrade: UpgradeStatus): PostgresStep | undefined {
  const { to, instance } = upgrade;
  const primary = instanceNamed(seen, instance);
  if (primary !== undefined && acceptsWrites(primary) && primary.report?.version?.split(".")[0] === to)
    return act(
      "advanceUpgrade",
      { upgrade: { ...upgrade, phase: "Analyzing" } },
      `${instance} accepts writes on PostgreSQL ${to}; replicas copy its data, and statistics are computed`,
    );
  const elapsedMs = lastingMs(seen.memory, upgradePhase("Starting"), seen.monotonicMs) ?? 0;
  if (elapsedMs < startMsMax) return stopOutdated(seen, to);
  const why = primary?.failure ?? primary?.report?.message ?? "it does not say why";
  const problem = `PostgreSQL ${to} did not accept writes within ${startMsMax / 60_000} minutes: ${why}`;
  return act("advanceUpgrade", { upgrade: { ...upgrade, phase: "Returning", problems: [problem] } }, problem);
}

function goBack(seen: Seen, upgrade: UpgradeStatus): PostgresStep | undefined {
  const { from, instance, problems, previousImage, previousSystemID = "" } = upgrade;
  if (seen.cluster.spec.version !== from) {
    const args = { upgrade, version: from, image: previousImage, systemId: previousSystemID };
    const reason = `all instances have stopped, and start on the data of PostgreSQL ${from}`;
    return stopAll(seen, `PostgreSQL ${from} returns`) ?? act("startOnVersion", args, reason);
  }
  const primary = instanceNamed(seen, instance);
  if (primary === undefined || !acceptsWrites(primary)) return stopOutdated(seen, from);
  const { safetyCopy: _, upgradedAt: _at, ...rest } = upgrade;
  const ended: UpgradeStatus =
    problems === undefined ? { ...withoutProblems(rest), phase: "Returned" } : { ...rest, phase: "Failed" };
  return act("advanceUpgrade", { upgrade: ended }, `${instance} accepts writes on the data of PostgreSQL ${from}`);
}

/** Pods of the other version end before any of this one starts. */
function stopOutdated(seen: Seen, version: string): PostgresStep | undefined {
  const outdated = seen.instances.filter(
    ({ pod }) => pod !== undefined && !isTemplateAsWanted(pod, seen.cluster, seen.archive),
  );
  return stopThese(outdated, `PostgreSQL ${version} starts`);
}

function stopAll({ instances }: Seen, why: string): PostgresStep | undefined {
  return stopThese(
    instances.filter(({ pod }) => pod !== undefined),
    why,
  );
}

function stopThese(running: readonly SeenInstance[], why: string): PostgresStep | undefined {
  const names = running.filter(({ pod }) => pod?.metadata.deletionTimestamp === undefined).map(({ name }) => name);
  if (names.length > 0) return act("stopInstances", { instances: names }, `${why}: ${names.join(" and ")} end before`);
  return running.length === 0
    ? undefined
    : wait(`${why} when ${running.map(({ name }) => name).join(" and ")} ended`, lookAgainMs);
}

function fail(upgrade: UpgradeStatus, problems: readonly string[]): PostgresStep {
  return act(
    "advanceUpgrade",
    { upgrade: { ...upgrade, phase: "Failed", problems: [...problems] } },
    `PostgreSQL ${upgrade.from} goes on with its data: ${problems.join("; ")}`,
  );
}

function because(why: string | undefined): string {
  return why === undefined ? "" : `: ${why}`;
}
