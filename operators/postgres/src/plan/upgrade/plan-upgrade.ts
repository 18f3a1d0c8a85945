/**
 * Prepares a change of the major version while the cluster serves: one instance gets the programs of both
 * versions, looks whether the data can be upgraded, and becomes the primary. Nothing stops before; pure.
 */
import { wait } from "setpoint";
import { labels } from "../../kind/labels.ts";
import { acceptsWrites, isStreaming, type Seen, type SeenInstance } from "../../seen/seen.ts";
import { isPreparing, upgradedInstance, upgradeOf, type UpgradeStatus } from "../../seen/upgrade.ts";
import { act, lookAgainMs, type PostgresStep, recheckMs } from "../postgres-step.ts";
import { nextImageOf } from "./wanted-upgrade.ts";

type Version = UpgradeStatus["to"];

/** The last rule: the cluster is whole, and all else that was asked for is done. */
export function planUpgrade(seen: Seen): PostgresStep | undefined {
  const { asked, cluster } = seen;
  const upgrade = upgradeOf(seen);
  if (asked.dryRun || cluster.spec.hibernated) return undefined;
  if (asked.version === cluster.spec.version) return upgrade === undefined ? undefined : settle(seen, upgrade);
  if (Number(asked.version) < Number(cluster.spec.version)) return goBack(seen, upgrade);
  if (upgrade?.phase === "Failed" && upgrade.to === asked.version) return wait(failedText(upgrade), 10 * recheckMs);
  if (upgrade === undefined || !isPreparing(upgrade) || upgrade.to !== asked.version) return begin(seen);
  const instance = upgradedInstance(seen);
  if (instance?.pod === undefined) return begin(seen);
  return prepare(seen, upgrade, instance);
}

/** Nothing is asked for any more, or statistics are missing. */
function settle(seen: Seen, upgrade: UpgradeStatus): PostgresStep | undefined {
  const { phase, from, to } = upgrade;
  if (isPreparing(upgrade) || phase === "Failed")
    return act("advanceUpgrade", { upgrade: undefined }, `spec.version is ${from} again, and the data always were`);
  if (phase !== "Analyzing") return undefined;
  const primary = seen.instances.find(acceptsWrites);
  if (primary === undefined || primary.report?.isAnalyzing === true)
    return wait(`statistics are computed for PostgreSQL ${to}; until then queries may be slow`, recheckMs);
  return act("advanceUpgrade", { upgrade: { ...upgrade, phase: "Completed" } }, `the cluster runs on PostgreSQL ${to}`);
}

/** Admission has seen that the safety copy was there, and that the user gives up what was written since. */
function goBack(seen: Seen, upgrade: UpgradeStatus | undefined): PostgresStep {
  const { version } = seen.asked;
  if (upgrade?.safetyCopy === undefined || upgrade.from !== version)
    return wait(
      `cannot go back to PostgreSQL ${version}: the data from before the upgrade are gone; set spec.version to ${seen.cluster.spec.version}`,
      10 * recheckMs,
    );
  const { upgradedAt = "" } = upgrade;
  return act(
    "advanceUpgrade",
    { upgrade: { ...withoutProblems(upgrade), phase: "Returning" } },
    `spec.version is ${version}: all instances stop, and what was written since ${upgradedAt} is given up`,
  );
}

function begin(seen: Seen): PostgresStep {
  const { cluster, asked, instances } = seen;
  const { primary = "", systemID } = cluster.status ?? {};
  const [from, to] = [cluster.spec.version, asked.version] as const;
  const instance = instances.find(isStreaming)?.name ?? primary;
  const { image } = cluster.spec;
  const upgrade: UpgradeStatus = {
    phase: "Preparing",
    id: `${from}-${to}-${cluster.metadata.generation ?? 0}`,
    from,
    to,
    instance,
    ...(systemID === undefined ? {} : { previousSystemID: systemID }),
    ...(image === undefined ? {} : { previousImage: image }),
  };
  return act("advanceUpgrade", { upgrade }, `spec.version is ${to}: ${instance} gets the programs of both versions`);
}

function prepare(seen: Seen, upgrade: UpgradeStatus, instance: SeenInstance): PostgresStep {
  const { name, pod, report } = instance;
  const { to, phase } = upgrade;
  const isPrimary = name === seen.cluster.status?.primary;
  if (pod?.metadata.annotations?.[labels.nextImage] !== nextImageOf(seen, name)) {
    const step = act("restartInstance", { instance: name }, `${name} gets the programs of PostgreSQL ${to}, too`);
    return isPrimary ? withinWindow(seen, step) : step;
  }
  if (phase === "Preparing")
    return act("advanceUpgrade", { upgrade: { ...upgrade, phase: "Checking" } }, `${name} can check its data`);
  const said = report?.upgrade?.id === upgrade.id ? report.upgrade : undefined;
  if (said?.state === "refused") return refuse(upgrade, said.problems ?? []);
  if (said?.state !== "compatible") return wait(`${name} checks whether PostgreSQL ${to} takes its data`, lookAgainMs);
  if (!isPrimary)
    return withinWindow(
      seen,
      act(
        "depose",
        { primary: seen.cluster.status?.primary ?? "", handover: "switchover", candidate: name },
        `${name} has the programs of PostgreSQL ${to}, and takes over before its data are upgraded`,
      ),
    );
  return withinWindow(
    seen,
    act(
      "advanceUpgrade",
      { upgrade: { ...withoutProblems(upgrade), phase: "Stopping", timeline: newTimeline(seen) } },
      `PostgreSQL ${to} takes the data: all servers stop`,
    ),
  );
}

function refuse(upgrade: UpgradeStatus, problems: readonly string[]): PostgresStep {
  const isKnown = upgrade.phase === "Refused" && JSON.stringify(upgrade.problems) === JSON.stringify(problems);
  return isKnown
    ? wait(refusedText(upgrade.to, problems), recheckMs)
    : act(
        "advanceUpgrade",
        { upgrade: { ...upgrade, phase: "Refused", problems: [...problems] } },
        refusedText(upgrade.to, problems),
      );
}

function refusedText(to: Version, problems: readonly string[]): string {
  return `PostgreSQL ${to} does not take the data, which stay as they are: ${problems.join("; ")}. Repair it, and it is checked again; or set spec.version back`;
}

function failedText({ from, to, problems = [] }: UpgradeStatus): string {
  return `the upgrade to PostgreSQL ${to} was taken back: ${problems.join("; ")}. Set spec.version to ${from}, and to ${to} again to retry`;
}

/** No timeline that an instance has begun, seen or unseen. */
function newTimeline({ cluster, instances, memory }: Seen): number {
  const known = [cluster.status?.lastTimeline, memory.lastTimeline, ...instances.map(({ report }) => report?.timeline)];
  return Math.max(...known.map((each) => each ?? 1)) + 1;
}

export function withoutProblems(upgrade: UpgradeStatus): UpgradeStatus {
  const { problems: _, ...rest } = upgrade;
  return rest;
}

function withinWindow({ closed }: Seen, step: PostgresStep): PostgresStep {
  return step.kind === "act" && closed !== undefined ? wait(`${step.reason}; ${closed}`, recheckMs) : step;
}
