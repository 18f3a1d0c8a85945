/** What the status says of a snapshot and the step that was decided; pure. */
import { archiveReportSchema, fencingRecord } from "@setpoint/data-service";
import type { StepFacts } from "setpoint";
import { labels } from "../kind/labels.ts";
import { wantedInstances } from "../kind/names.ts";
import type { PostgresCluster } from "../kind/postgres-cluster.ts";
import { specRecord } from "../kind/spec-in-force.ts";
import { hashOf } from "../instance/document-hash.ts";
import { fencingOf } from "../plan/fencing.ts";
import { isHibernated } from "../plan/plan-hibernation.ts";
import { isPausing } from "../plan/plan-pause.ts";
import { changeSteps } from "../plan/change-plan.ts";
import type { PostgresStep } from "../plan/postgres-step.ts";
import { wantedDocument } from "../plan/wanted.ts";
import {
  acceptsWrites,
  instanceNamed,
  isReady,
  isStandby,
  primaryOf,
  type Seen,
  type SeenInstance,
} from "../seen/seen.ts";
import { isUpgradeHolding } from "../seen/upgrade.ts";
import { present } from "./present.ts";
import { succession } from "./succession.ts";
import { versionStatus } from "./upgrade-status.ts";

type Status = NonNullable<PostgresCluster["status"]>;
type Member = Status["members"][number];

export function postgresStatus(seen: Seen, step: PostgresStep, facts: StepFacts): Omit<Status, "conditions"> {
  const { cluster, instances } = seen;
  const { name = "" } = cluster.metadata;
  const primary = primaryOf(seen);
  const serving = primary !== undefined && acceptsWrites(primary) ? primary.report : undefined;
  const { endsMs } = seen.certificates;
  return {
    phase: phaseOf(seen, step),
    observedGeneration: cluster.metadata.generation,
    ...dryRunOf(seen),
    ...dataOf(seen, step),
    ...versionStatus(seen, step, facts),
    ...succession(seen, step, facts),
    ...present({
      fencing: fencingStatusOf(seen, facts),
      hibernation: hibernationOf(seen, step, facts),
      voters: votersOf(seen),
      archive: archiveOf(seen),
      pausing: pausingOf(seen, step, facts),
    }),
    instances: countPods(seen),
    readyInstances: instances.filter(isReady).length,
    ...present({ currentVersion: serving?.version ?? cluster.status?.currentVersion }),
    writeService: `${name}-rw`,
    readService: `${name}-ro`,
    members: instances.map((each) => memberOf(seen, each)),
    ...present({ certificatesEnd: endsMs === undefined ? undefined : new Date(endsMs).toISOString() }),
    ...present({ waitingFor: waitingFor(cluster.status, step, facts) }),
    selector: `${labels.cluster}=${name}`,
  };
}

function pausingOf(seen: Seen, step: PostgresStep, { now }: StepFacts): Status["pausing"] {
  if (step.kind === "act" && step.action === "pausePoolers") return { for: step.args.next, since: now };
  return isPausing(seen, step, Date.parse(now)) ? seen.cluster.status?.pausing : undefined;
}

function fencingStatusOf(seen: Seen, { now }: StepFacts): Status["fencing"] {
  const isStopped = (name: string): boolean => {
    const { pod, report } = instanceNamed(seen, name) ?? {};
    return pod === undefined || report?.server === "stopped";
  };
  const record = fencingRecord(fencingOf(seen), seen.cluster.status?.fencing, { now, isStopped });
  if (record === undefined) return undefined;
  const { members, refused } = record;
  return { members: [...members], ...(refused === undefined ? {} : { refused: [...refused] }) };
}

function hibernationOf(seen: Seen, step: PostgresStep, { now }: StepFacts): Status["hibernation"] {
  const { spec, status } = seen.cluster;
  const before = status?.hibernation;
  if (step.kind === "act" && step.action === "awake") return undefined;
  if (spec.paused || (before === undefined && !isHibernated(seen))) return before;
  const asleep = countPods(seen) === 0 ? "Hibernated" : "Hibernating";
  const state = spec.hibernated ? asleep : "Waking";
  return before?.state === state ? before : { state, since: now };
}

/** A dry run changes nothing of what is in force. */
function dryRunOf({ cluster, asked, ...seen }: Seen): Pick<Status, "specInForce" | "plannedSteps"> {
  if (!asked.dryRun) return { specInForce: specRecord(asked) };
  const isRunning = cluster.status?.term !== undefined;
  return present({
    specInForce: cluster.status?.specInForce,
    plannedSteps: isRunning ? [...changeSteps({ cluster, asked, ...seen })] : undefined,
  });
}

/** The primary's archiver says it; what it said last counts while there is no primary. */
export function archiveOf(seen: Seen): Status["archive"] {
  const { spec, status } = seen.cluster;
  if (spec.archive === undefined) return undefined;
  const said = archiveReportSchema.safeParse(primaryOf(seen)?.report?.archive);
  if (!said.success) return status?.archive;
  // Server-side apply makes null of a map that loses its last field, and the schema refuses that.
  return Object.keys(said.data).length === 0 ? undefined : said.data;
}

/** The primary counts the instances of the document that it follows, which may be one of before. */
function votersOf(seen: Seen): Status["voters"] {
  const document = wantedDocument(seen);
  const isFollowed = primaryOf(seen)?.report?.follows === hashOf(document);
  return isFollowed ? document.peers.map(({ name }) => name) : seen.cluster.status?.voters;
}

/** Which data the cluster runs on: written before anything starts on them. */
function dataOf(seen: Seen, step: PostgresStep): Pick<Status, "restored" | "previousData" | "stoppedFor" | "systemID"> {
  const { restore: mark, instances, otherClaims, cluster } = seen;
  const { restored, previousData, systemID, primary } = cluster.status ?? {};
  if (step.kind === "act" && step.action === "startRestored")
    return { restored: step.args.restoreId, previousData: present({ restored, primary, systemID }) };
  if (step.kind === "act" && step.action === "goBack")
    return present({ restored: previousData?.restored, systemID: previousData?.systemID });
  const current = primaryOf(seen);
  const serving = current !== undefined && acceptsWrites(current) ? current.report?.systemId : undefined;
  const hasStopped = mark?.state === "stop" && instances.every(({ pod }) => pod === undefined);
  return present({
    restored,
    systemID: startedSystemId(step) ?? systemID ?? serving,
    stoppedFor: hasStopped ? mark.id : undefined,
    previousData: mark?.state === "done" && otherClaims.length === 0 ? undefined : previousData,
  });
}

function startedSystemId(step: PostgresStep): string | undefined {
  return step.kind === "act" && step.action === "startOnVersion" ? step.args.systemId : undefined;
}

function memberOf({ cluster }: Seen, instance: SeenInstance): Member {
  const { name, report, failure } = instance;
  const { pendingRestart: pending = [] } = report ?? {};
  const before = cluster.status?.members?.find((each) => each.name === name);
  return {
    name,
    role: roleOf(cluster, instance),
    ready: isReady(instance),
    // A restore in place begins a newer timeline than those of all instances, which it has stopped.
    ...present({ timeline: report?.timeline ?? before?.timeline, message: failure ?? report?.message }),
    ...present({ version: report?.version ?? before?.version }),
    ...(pending.length === 0 ? {} : { pendingRestart: [...pending] }),
  };
}

function roleOf({ status }: PostgresCluster, instance: SeenInstance): Member["role"] {
  if (instance.name === status?.primary && acceptsWrites(instance)) return "Primary";
  return isStandby(instance) ? "Replica" : "Unknown";
}

function phaseOf(seen: Seen, step: PostgresStep): Status["phase"] {
  const { spec, status } = seen.cluster;
  if (spec.paused) return "Paused";
  if (seen.serviceTaken !== undefined || seen.loginTaken !== undefined) return "Failed";
  if (isRestoring(seen)) return "Restoring";
  if (isUpgradeHolding(seen.cluster)) return "Upgrading";
  if (isHibernated(seen)) return countPods(seen) === 0 ? "Hibernated" : "Hibernating";
  const handover = step.kind === "act" && step.action === "depose" ? step.args.handover : status?.handover;
  if (handover !== undefined) return handover === "failover" ? "FailingOver" : "SwitchingOver";
  if (status?.systemID === undefined) return seen.refusals.length > 0 ? "Failed" : "Creating";
  if (step.kind === "act" && (step.action === "restartInstance" || step.action === "restartServer")) return "Updating";
  return phaseOfInstances(seen);
}

function isRestoring({ restore, cluster }: Seen): boolean {
  if (restore === undefined) return false;
  return restore.state === "stop" || (restore.state !== "done" && cluster.status?.systemID === undefined);
}

function phaseOfInstances(seen: Seen): Status["phase"] {
  const primary = primaryOf(seen);
  const { fenced } = fencingOf(seen);
  if (primary !== undefined && fenced.includes(primary.name)) return "Fenced";
  if (primary === undefined || !acceptsWrites(primary)) return "FailingOver";
  const isComplete = countPods(seen) === wantedInstances(seen.cluster).length;
  if (!isComplete) return "Scaling";
  if (seen.instances.some((each) => !isReady(each) && !fenced.includes(each.name))) return "Degraded";
  return fenced.length > 0 ? "Fenced" : "Running";
}

function countPods({ instances }: Seen): number {
  return instances.filter(({ pod }) => pod !== undefined).length;
}

function waitingFor(previous: Status | undefined, step: PostgresStep, { now, since }: StepFacts): Status["waitingFor"] {
  if (step.kind !== "wait") return undefined;
  const same = previous?.waitingFor?.what === step.reason ? previous.waitingFor : undefined;
  return { what: step.reason, since: same?.since ?? since ?? now };
}
