/** Situations for the table of the plan: three instances, of which a row says only what is unusual. */
import { Pod, PersistentVolumeClaim } from "setpoint/kinds";
import type { InstanceReport } from "../instance/instance-protocol.ts";
import { hashOf } from "../instance/document-hash.ts";
import { instanceClaim, instancePod } from "../kind/instance-pod.ts";
import { labels } from "../kind/labels.ts";
import { PostgresCluster } from "../kind/postgres-cluster.ts";
import { noMemory } from "../seen/memory.ts";
import type { PodState, Seen, SeenInstance } from "../seen/seen.ts";
import { wantedDocument } from "./wanted.ts";

type Spec = PostgresCluster["spec"];
type Status = NonNullable<PostgresCluster["status"]>;

/** Half an hour after the start of the process. */
export const nowMs = 1_800_000;

export function cluster(spec: Partial<Spec> = {}, status: Partial<Status> = {}, annotations = {}): PostgresCluster {
  const made = PostgresCluster({
    name: "orders",
    namespace: "shop",
    annotations,
    spec: { storage: { size: "1Gi" }, ...spec },
  } as Parameters<typeof PostgresCluster>[0]);
  return { ...made, status: { term: 3, primary: "orders-1", systemID: "77", ...status } as Status };
}

export interface InstanceSketch {
  readonly pod?: PodState;
  readonly report?: Partial<InstanceReport> | "silent";
  readonly ready?: boolean;
  readonly label?: string;
  readonly template?: string;
  /** The size of its volume, or `none`. */
  readonly claim?: string;
}

const reportBase = {
  term: 3,
  follows: "",
  data: "present",
  systemId: "77",
  version: "17.6",
  server: "running",
  hasReadSettings: true,
} as const;

/** A primary, running and ready. */
export function primary(name: string, sketch: InstanceSketch = {}): SeenInstance {
  return instance(name, { isPrimary: true, position: "0/5000000" }, { label: "primary", ...sketch });
}

/** A replica that follows, running and ready. */
export function replica(name: string, sketch: InstanceSketch = {}): SeenInstance {
  return instance(name, { isPrimary: false, isStreaming: true, position: "0/5000000" }, sketch);
}

function instance(name: string, usual: Partial<InstanceReport>, sketch: InstanceSketch): SeenInstance {
  const { pod = "running", report = {}, claim = "1Gi" } = sketch;
  const answers = pod === "running" && report !== "silent";
  return {
    name,
    pod: pod === "missing" ? undefined : podOf(name, pod, sketch),
    claim: claim === "none" ? undefined : claimOf(name, claim),
    report: answers ? { name, ...reportBase, ...usual, ...report } : undefined,
  };
}

function claimOf(name: string, storage: string): PersistentVolumeClaim {
  const claim = instanceClaim(cluster(), name, undefined);
  return { ...claim, spec: { ...claim.spec, resources: { requests: { storage } } } };
}

function podOf(
  name: string,
  state: PodState,
  { ready = state === "running", label = "replica", template }: InstanceSketch,
): Pod {
  const pod = instancePod(cluster(), name, { managerImage: "manager:1", archive: undefined });
  const annotations = template === undefined ? pod.metadata.annotations : { [labels.template]: template };
  const containerState =
    state === "ended" ? { terminated: { exitCode: 137 } } : state === "starting" ? { waiting: {} } : { running: {} };
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      uid: `uid-${name}`,
      annotations,
      labels: { ...pod.metadata.labels, [labels.role]: label },
      ...(state === "leaving" ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}),
    },
    status: {
      conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
      containerStatuses: [{ name: "postgres", ready, image: "", imageID: "", restartCount: 0, state: containerState }],
    },
  } as Pod;
}

/** All that answer follow the present document, unless `follows` says otherwise. */
export function seen(instances: readonly SeenInstance[], facts: Partial<Seen> = {}): Seen {
  const base: Seen = {
    cluster: cluster(),
    asked: (facts.cluster ?? cluster()).spec,
    refusals: [],
    certificates: { due: {}, trusts: [] } as unknown as Seen["certificates"],
    instances,
    servicesToApply: [],
    needsBudget: false,
    hasLogin: true,
    otherClaims: [],
    poolers: [],
    memory: noMemory,
    monotonicMs: nowMs,
    ...facts,
  };
  const wanted = hashOf(wantedDocument(base));
  const following = instances.map((each) =>
    each.report === undefined || each.report.follows !== ""
      ? each
      : { ...each, report: { ...each.report, follows: wanted } },
  );
  return { ...base, instances: following };
}
