/** What the status says of a snapshot and the step that was decided; pure. */
import { archivedCondition, archiveReportSchema } from "@setpoint/data-service";
import type { ConditionInit, StepFacts } from "setpoint";
import { labels } from "../kind/labels.ts";
import { wantedInstances } from "../kind/names.ts";
import type { PostgresCluster } from "../kind/postgres-cluster.ts";
import { hashOf } from "../instance/document-hash.ts";
import { refusalText, settingErrorsOf } from "../plan/plan.ts";
import type { PostgresStep } from "../plan/postgres-step.ts";
import { wantedDocument } from "../plan/wanted.ts";
import { acceptsWrites, isReady, isStandby, primaryOf, type Seen, type SeenInstance } from "../seen/seen.ts";

type Status = NonNullable<PostgresCluster["status"]>;
type Succession = Pick<
  Status,
  | "primary"
  | "formerPrimary"
  | "term"
  | "candidate"
  | "handover"
  | "lastPosition"
  | "lastTimeline"
  | "lastFailover"
  | "lastSwitchover"
>;

export function postgresStatus(seen: Seen, step: PostgresStep, facts: StepFacts): Omit<Status, "conditions"> {
  const { cluster, instances } = seen;
  const { name = "" } = cluster.metadata;
  const primary = primaryOf(seen);
  const serving = primary !== undefined && acceptsWrites(primary) ? primary.report : undefined;
  const { endsMs } = seen.certificates;
  return {
    phase: phaseOf(seen, step),
    observedGeneration: cluster.metadata.generation,
    ...dataOf(seen, step),
    ...succession(seen, step, facts),
    ...present({ voters: votersOf(seen), archive: archiveOf(seen) }),
    instances: instances.filter(({ pod }) => pod !== undefined).length,
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

/** The primary's archiver says it; what it said last counts while there is no primary. */
function archiveOf(seen: Seen): Status["archive"] {
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
    systemID: systemID ?? serving,
    stoppedFor: hasStopped ? mark.id : undefined,
    previousData: mark?.state === "done" && otherClaims.length === 0 ? undefined : previousData,
  });
}

/** Who the primary is, was and becomes: written before the step that makes it so. */
function succession(seen: Seen, step: PostgresStep, { now }: StepFacts): Succession {
  const { cluster, memory } = seen;
  const {
    primary,
    formerPrimary,
    term,
    candidate,
    handover,
    lastPosition,
    lastTimeline,
    lastFailover,
    lastSwitchover,
  } = cluster.status ?? {};
  const before = present({
    primary,
    formerPrimary,
    term,
    candidate,
    handover,
    lastPosition,
    lastTimeline,
    lastFailover,
    lastSwitchover,
  });
  if (step.kind === "act" && step.action === "depose") {
    return {
      ...present({ lastFailover, lastSwitchover, candidate: step.args.candidate }),
      formerPrimary: step.args.primary,
      term: (term ?? 0) + 1,
      handover: step.args.handover,
      ...present({
        lastPosition: memory.lastPosition ?? lastPosition,
        lastTimeline: memory.lastTimeline ?? lastTimeline,
      }),
    };
  }
  if (step.kind === "act" && step.action === "appoint") {
    const { primary: to, lostAtMost } = step.args;
    const from = formerPrimary ?? "";
    const reason = cluster.status?.waitingFor?.what ?? step.reason;
    const failover = handover === "failover" ? { from, to, at: now, reason, ...present({ lostAtMost }) } : lastFailover;
    const switchover = handover === "switchover" ? { from, to, at: now, request: candidate ?? to } : lastSwitchover;
    return {
      ...present({ formerPrimary, lastFailover: failover, lastSwitchover: switchover }),
      primary: to,
      term: term ?? 1,
    };
  }
  // Nobody has written to these data yet, and what was known of others counts no more.
  if (step.kind === "act" && step.action === "startRestored")
    return { ...present({ lastFailover, lastSwitchover }), primary: step.args.primary, term: (term ?? 0) + 1 };
  if (step.kind === "act" && step.action === "goBack") {
    const { primary: to } = cluster.status?.previousData ?? {};
    return { ...present({ lastFailover, lastSwitchover, primary: to }), term: (term ?? 0) + 1 };
  }
  const current = primaryOf(seen);
  if (formerPrimary === undefined || current === undefined || !acceptsWrites(current)) return before;
  // The new primary is in office.
  const { formerPrimary: _, ...rest } = before;
  return rest;
}

/** Without the fields that are undefined. */
function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

function memberOf({ cluster }: Seen, instance: SeenInstance): Status["members"][number] {
  const { name, report, failure } = instance;
  const isPrimary = name === cluster.status?.primary && acceptsWrites(instance);
  const message = failure ?? report?.message;
  return {
    name,
    role: isPrimary ? "Primary" : isStandby(instance) ? "Replica" : "Unknown",
    ready: isReady(instance),
    ...present({ timeline: report?.timeline, message }),
  };
}

function phaseOf(seen: Seen, step: PostgresStep): Status["phase"] {
  const { cluster } = seen;
  const { systemID } = cluster.status ?? {};
  const handover = step.kind === "act" && step.action === "depose" ? step.args.handover : cluster.status?.handover;
  if (cluster.spec.paused) return "Paused";
  if (seen.serviceTaken !== undefined) return "Failed";
  if (seen.restore !== undefined && seen.restore.state !== "done" && systemID === undefined) return "Restoring";
  if (seen.restore?.state === "stop") return "Restoring";
  if (handover !== undefined) return handover === "failover" ? "FailingOver" : "SwitchingOver";
  if (systemID === undefined) return seen.refusals.length > 0 ? "Failed" : "Creating";
  if (step.kind === "act" && step.action === "restartInstance") return "Updating";
  const primary = primaryOf(seen);
  if (primary === undefined || !acceptsWrites(primary)) return "FailingOver";
  const wanted = wantedInstances(cluster);
  if (seen.instances.filter(({ pod }) => pod !== undefined).length !== wanted.length) return "Scaling";
  return seen.instances.every(isReady) ? "Running" : "Degraded";
}

function waitingFor(previous: Status | undefined, step: PostgresStep, { now, since }: StepFacts): Status["waitingFor"] {
  if (step.kind !== "wait") return undefined;
  const same = previous?.waitingFor?.what === step.reason ? previous.waitingFor : undefined;
  return { what: step.reason, since: same?.since ?? since ?? now };
}

/** Available, Degraded and Accepted; the runtime adds Progressing from the step. */
export function postgresConditions(seen: Seen, step: PostgresStep): readonly ConditionInit[] {
  const primary = primaryOf(seen);
  const why = step.kind === "rest" ? "No instance accepts writes" : step.reason;
  const isAvailable = primary !== undefined && acceptsWrites(primary);
  const unready = seen.instances.filter((each) => !isReady(each)).map(({ name }) => name);
  return [
    isAvailable
      ? { type: "Available", status: "True", reason: "PrimaryAcceptsWrites", message: `${primary.name} accepts writes` }
      : { type: "Available", status: "False", reason: "NoPrimary", message: why },
    unready.length === 0
      ? { type: "Degraded", status: "False", reason: "AllInstancesReady", message: "All instances are ready" }
      : { type: "Degraded", status: "True", reason: "InstancesNotReady", message: `${unready.join(", ")} not ready` },
    accepted(seen),
    ...archived(seen),
  ];
}

function archived(seen: Seen): readonly ConditionInit[] {
  if (seen.cluster.spec.archive === undefined) return [];
  return [archivedCondition(archiveOf(seen), seen.storeRefusal)];
}

function accepted({ refusals, instances }: Seen): ConditionInit {
  const errors = settingErrorsOf(instances);
  if (refusals.length > 0)
    return { type: "Accepted", status: "False", reason: "FieldsRefused", message: refusalText(refusals) };
  return errors.length > 0
    ? { type: "Accepted", status: "False", reason: "RefusedByPostgreSQL", message: errors.join("; ") }
    : { type: "Accepted", status: "True", reason: "Accepted", message: "All fields are accepted" };
}
