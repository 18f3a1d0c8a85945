/** Situations of a cluster in a few words, and the step that the plan takes in them. */
import { nothingFenced } from "@setpoint/data-service";
import type { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { type PodFailure, podProblem } from "setpoint/pods";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { plan } from "./plan.ts";
import type { SeenMember } from "../seen/seen.ts";
import type { Situation } from "./situation.ts";

export const nowMs = Date.parse("2026-01-01T00:10:00Z");
const target = "3.4.23";

/** It has started once, unless its status says otherwise. */
export function cluster(spec: Partial<EtcdCluster["spec"]> = {}, status?: object): EtcdCluster {
  return {
    apiVersion: "etcd.setpoint.dev/v1",
    kind: "EtcdCluster",
    metadata: { name: "orders", namespace: "default", uid: "u1", generation: 1 },
    spec: {
      size: 3,
      version: target,
      paused: false,
      imageRepository: "quay.io/coreos/etcd",
      deletionPolicy: "Delete",
      maintenance: { defragmentation: { whenFreePercent: 50, minDbSizeMiB: 100 } },
      tuning: "off",
      healing: { slowDisk: "report", slowDiskMilliseconds: 500, slowDiskSeconds: 600 },
      quorumRecovery: { policy: "onApproval", fencingSeconds: 120, withoutCopy: false, keepCopySeconds: 60 },
      ...spec,
    },
    status: { clusterID: "c1", ...status },
  } as EtcdCluster;
}

/** How a member differs from a healthy voter. */
export interface MemberSketch {
  readonly pod?: "Running" | "Pending" | "Failed" | "gone" | "stopping";
  readonly version?: string;
  readonly answers?: boolean;
  /** Its pod is ready; default: when it answers. */
  readonly serves?: boolean;
  readonly runs?: string;
  readonly leads?: boolean;
  readonly learner?: boolean;
  readonly listed?: boolean;
  readonly started?: boolean;
  readonly raftIndex?: number;
  readonly dbSizeMiB?: number;
  readonly inUseMiB?: number;
  readonly noSpace?: boolean;
  readonly volume?: boolean | "leaving";
  /** How its failed pod ended, a second after its start. */
  readonly exitCode?: number;
  readonly exitReason?: string;
  /** How many times in a row pods have failed. */
  readonly failures?: number;
  readonly silentSince?: string;
  readonly recorded?: boolean;
}

function ended(exitCode: number, reason = "Error"): object {
  return { exitCode, reason, startedAt: "2026-01-01T00:09:00Z", finishedAt: "2026-01-01T00:09:01Z" };
}

function failureOf(pod: Pod, times = 1): PodFailure | undefined {
  const problem = podProblem(pod);
  return problem === undefined ? undefined : { ...problem, times, nextTry: "2026-01-01T00:11:00Z" };
}

function claimOf(member: string, isLeaving: boolean): PersistentVolumeClaim {
  const left = isLeaving ? { deletionTimestamp: "2026-01-01T00:09:59Z" } : {};
  return { metadata: { name: `data-${member}`, ...left } } as PersistentVolumeClaim;
}

/** A healthy voter unless the sketch says otherwise; `a` leads unless told otherwise. */
export function member(name: string, sketch: MemberSketch = {}): SeenMember {
  const phase = sketch.pod ?? "Running";
  const answers = sketch.answers ?? phase === "Running";
  const version = sketch.version ?? target;
  const pod = {
    metadata: {
      name,
      uid: `pod-${name}`,
      ...(phase === "stopping" ? { deletionTimestamp: "2026-01-01T00:09:59Z" } : {}),
    },
    spec: { containers: [{ name: "etcd", image: `quay.io/coreos/etcd:v${version}` }] },
    status: {
      phase: phase === "stopping" ? "Running" : phase,
      podIP: "127.64.0.2",
      conditions: [{ type: "Ready", status: (sketch.serves ?? answers) ? "True" : "False" }],
      ...(sketch.exitCode === undefined
        ? {}
        : {
            containerStatuses: [
              { name: "etcd", restartCount: 0, state: { terminated: ended(sketch.exitCode, sketch.exitReason) } },
            ],
          }),
    },
  } as unknown as Pod;
  return {
    name,
    ...(phase === "gone" ? {} : { pod }),
    failure: failureOf(pod, sketch.failures),
    ...(sketch.volume ? { volume: claimOf(name, sketch.volume === "leaving") } : {}),
    ...(sketch.listed === false
      ? {}
      : { listed: { id: `id-${name}`, learner: sketch.learner ?? false, started: sketch.started ?? true } }),
    ...(sketch.recorded === false
      ? {}
      : {
          ...(sketch.silentSince ? { silentForMs: nowMs - Date.parse(sketch.silentSince) } : {}),
          recorded: { id: `id-${name}`, ...(sketch.silentSince ? { unhealthySince: sketch.silentSince } : {}) },
        }),
    ...(answers
      ? {
          status: {
            memberId: `id-${name}`,
            clusterId: "c1",
            version: sketch.runs ?? version,
            leaderId: sketch.leads ? `id-${name}` : "id-a",
            learner: sketch.learner ?? false,
            raftIndex: sketch.raftIndex ?? 100,
            revision: 1,
            dbSize: (sketch.dbSizeMiB ?? 1) * 1_048_576,
            dbSizeInUse: (sketch.inUseMiB ?? 1) * 1_048_576,
            errors: sketch.noSpace === true ? ["memberID:1 alarm:NOSPACE "] : [],
          },
        }
      : {}),
  };
}

export const a = (sketch: MemberSketch = {}): SeenMember => member("a", sketch);
export const b = (sketch: MemberSketch = {}): SeenMember => member("b", sketch);
export const c = (sketch: MemberSketch = {}): SeenMember => member("c", sketch);

/**
 * All there is to see of a cluster with these members: nothing is amiss but what they and the overrides say.
 */
export function seen(members: readonly SeenMember[], overrides: Partial<Situation> = {}): Situation {
  return {
    cluster: cluster(),
    refusals: [],
    restore: { mark: undefined, prepared: [], before: [], older: [], current: [], restored: [] },
    nowMs,
    members,
    services: new Map(),
    givenUp: [],
    fencing: nothingFenced,
    misowned: [],
    mislabelled: [],
    outdated: [],
    small: [],
    copyImage: "operator",
    needsBudget: false,
    quorum: true,
    clusterIds: ["c1"],
    targetVersion: target,
    servicesToApply: [],
    hasLoopback: true,
    pinnedImages: new Map(),
    ...overrides,
  };
}

/** The step in one line: `promote c`, `startFounders b c`, `wait`, `rest`. */
export function step(situation: Situation): string {
  const decided = plan(situation, nowMs);
  if (decided.kind !== "act") return decided.kind;
  const args = decided.args as Readonly<Record<string, unknown>>;
  return [decided.action, args["member"] ?? args["from"] ?? args["members"]].flat().filter(Boolean).join(" ");
}
