/** The ReplicaSet that runs a Deployment's template, and the revisions by which rollouts are undone. */
import { Deployment, ReplicaSet } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import type { ReconcileContext } from "@setpoint/runtime";
import { TakenName } from "../taken-name.ts";
import { hasTemplate, templateHash, templateHashLabel } from "./pod-template.ts";
import { boundsOf } from "./rolling-update.ts";

const prefix = "deployment.kubernetes.io";
const revisionAnnotation = `${prefix}/revision`;
const historyAnnotation = `${prefix}/revision-history`;
const desiredAnnotation = `${prefix}/desired-replicas`;
const maxAnnotation = `${prefix}/max-replicas`;
/** Of the Deployment alone; ReplicaSets carry its other annotations, for example the cause of a change. */
const ownAnnotations = new Set([
  revisionAnnotation,
  historyAnnotation,
  desiredAnnotation,
  maxAnnotation,
  "kubectl.kubernetes.io/last-applied-configuration",
  "deprecated.deployment.rollback.to",
]);
/** Revisions that a set keeps of its earlier turns as the current one, in characters. */
const historyLength = 2_000;

/** Revisions are 64 bits wide, more than a number holds. */
export function byRevision(a: ReplicaSet, b: ReplicaSet): number {
  const difference = revisionOf(a) - revisionOf(b);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

function revisionOf(set: ReplicaSet): bigint {
  const text = set.metadata.annotations?.[revisionAnnotation] ?? "";
  return /^\d{1,19}$/u.test(text) ? BigInt(text) : 0n;
}

/** The set with the Deployment's template: an old one again after a rollback. */
export function findCurrentSet(
  { spec }: Deployment,
  sets: readonly Stored<ReplicaSet>[],
): Stored<ReplicaSet> | undefined {
  return spec === undefined ? undefined : sets.find((set) => hasTemplate(set, spec.template));
}

/** A found set gets what changed in the Deployment besides the template, and the newest revision. */
export async function refreshSet(
  deployment: Stored<Deployment>,
  set: Stored<ReplicaSet>,
  sets: readonly Stored<ReplicaSet>[],
  context: ReconcileContext,
): Promise<Stored<ReplicaSet>> {
  const wanted = { ...inheritedAnnotations(deployment), ...revisionAnnotations(set, sets) };
  const annotations = set.metadata.annotations ?? {};
  const minReadySeconds = deployment.spec?.minReadySeconds ?? 0;
  const isSame =
    Object.entries(wanted).every(([key, value]) => annotations[key] === value) &&
    (set.spec?.minReadySeconds ?? 0) === minReadySeconds;
  return isSame ? set : context.patch(set, { metadata: { annotations: wanted }, spec: { minReadySeconds } });
}

function revisionAnnotations(set: ReplicaSet, sets: readonly ReplicaSet[]): Readonly<Record<string, string>> {
  const next = nextRevision(sets.filter((each) => each.metadata.uid !== set.metadata.uid));
  if (revisionOf(set) >= next) return {};
  const { [revisionAnnotation]: revision, [historyAnnotation]: history } = set.metadata.annotations ?? {};
  const earlier = [
    ...(history === undefined || history === "" ? [] : history.split(",")),
    ...(revision === undefined ? [] : [revision]),
  ];
  while (earlier.join(",").length > historyLength) earlier.shift();
  return {
    [revisionAnnotation]: String(next),
    ...(earlier.length === 0 ? {} : { [historyAnnotation]: earlier.join(",") }),
  };
}

function nextRevision(sets: readonly ReplicaSet[]): bigint {
  return sets.map(revisionOf).reduce((newest, each) => (each > newest ? each : newest), 0n) + 1n;
}

/**
 * `kubectl rollout history` and `undo` read the revision of the Deployment itself. It is written beside the
 * status, because a changed annotation is a new generation of a Deployment.
 */
export async function showRevision(
  deployment: Stored<Deployment>,
  current: ReplicaSet,
  context: ReconcileContext,
): Promise<void> {
  const revision = current.metadata.annotations?.[revisionAnnotation];
  if (revision === undefined || deployment.metadata.annotations?.[revisionAnnotation] === revision) return;
  const { name, namespace = "", uid } = deployment.metadata;
  const shown = { metadata: { uid, annotations: { [revisionAnnotation]: revision } } };
  const options = { subresource: "status", signal: context.signal } as const;
  await context.client.patch(Deployment, { name, namespace }, shown, options);
}

/** An empty set of the Deployment's template. Errors: `TakenName` when an edited set has its name. */
export async function createSet(
  deployment: Stored<Deployment>,
  sets: readonly ReplicaSet[],
  context: ReconcileContext,
): Promise<Stored<ReplicaSet>> {
  const spec = deployment.spec;
  if (spec === undefined) throw new Error(`Deployment "${deployment.metadata.name}" has no spec`);
  const hash = templateHash(spec.template, deployment.status?.collisionCount ?? 0);
  const labels = { ...spec.template.metadata?.labels, [templateHashLabel]: hash };
  const revision = { [revisionAnnotation]: String(nextRevision(sets)) };
  const set = ReplicaSet({
    name: `${deployment.metadata.name}-${hash}`,
    namespace: deployment.metadata.namespace ?? "",
    labels,
    annotations: { ...inheritedAnnotations(deployment), ...revision, ...sizedAnnotations(deployment) },
    spec: {
      replicas: 0,
      ...(spec.minReadySeconds === undefined ? {} : { minReadySeconds: spec.minReadySeconds }),
      selector: { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, [templateHashLabel]: hash } },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  });
  const created = await context.create(set);
  if (!hasTemplate(created, spec.template))
    throw new TakenName(`ReplicaSet "${created.metadata.name}" has another template than its Deployment`);
  return created;
}

function inheritedAnnotations({ metadata }: Deployment): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !ownAnnotations.has(key)));
}

/** What a set was last sized for: the base of proportional scaling. */
export function sizedAnnotations({ spec }: Deployment): Readonly<Record<string, string>> {
  const replicas = spec?.replicas ?? 1;
  const isRecreate = spec?.strategy?.type === "Recreate";
  const maxSurge = isRecreate ? 0 : boundsOf(spec?.strategy?.rollingUpdate, replicas).maxSurge;
  return { [desiredAnnotation]: String(replicas), [maxAnnotation]: String(replicas + maxSurge) };
}

/** What the annotations of `sizedAnnotations` say. */
export function sizedFor(set: ReplicaSet): {
  readonly desired: number | undefined;
  readonly maxReplicas: number | undefined;
} {
  const { annotations = {} } = set.metadata;
  return { desired: countIn(annotations[desiredAnnotation]), maxReplicas: countIn(annotations[maxAnnotation]) };
}

function countIn(text = ""): number | undefined {
  return /^\d{1,10}$/u.test(text) ? Number(text) : undefined;
}
