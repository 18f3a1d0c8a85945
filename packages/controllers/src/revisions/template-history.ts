/**
 * ControllerRevisions: the templates that a StatefulSet or DaemonSet had, for rolling updates and rollbacks.
 */
import { ControllerRevision, type PodTemplateSpec } from "@setpoint/api";
import { deepEqual, type KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import type { ReconcileContext } from "@setpoint/runtime";
import { templateHash } from "../deployment/pod-template.ts";

/** The label of a pod that names the revision whose template it runs. */
export const revisionHashLabel = "controller-revision-hash";
/** The label of a ControllerRevision that holds its hash, unless its owner has another one. */
const hashLabel = "controller.kubernetes.io/hash";

type RevisionData = NonNullable<ControllerRevision["data"]>;

/** A template of the past or the present, by the revision's name. */
export type TemplateHistory = readonly Stored<ControllerRevision>[];

/** What has a template and keeps its history. */
export interface Templated {
  readonly object: Stored<KubeObject>;
  readonly template: PodTemplateSpec;
  readonly collisions: number;
  /** The label of a revision that holds its hash. */
  readonly hashLabel?: string;
}

/**
 * The history with a revision for the present template, oldest first: a new one, or an old one that becomes
 * the newest again after a rollback.
 */
export async function recordTemplate(templated: Templated, context: ReconcileContext): Promise<TemplateHistory> {
  const history = context.children.list(ControllerRevision).toSorted((a, b) => a.revision - b.revision);
  const data = dataOf(templated.template);
  const newest = history.at(-1);
  const found = history.findLast((each) => deepEqual(each.data, data));
  if (found === undefined) return [...history, await create(templated, data, (newest?.revision ?? 0) + 1, context)];
  if (found === newest) return history;
  const renewed = await context.patch(found, { revision: (newest?.revision ?? 0) + 1 });
  return [...history.filter((each) => each !== found), renewed];
}

/** Deletes the oldest revisions above the limit that no pod runs. */
export async function truncateHistory(
  history: TemplateHistory,
  inUse: ReadonlySet<string>,
  limit: number,
  context: ReconcileContext,
): Promise<void> {
  const unused = history.filter(({ metadata }) => !inUse.has(metadata.name));
  for (const revision of unused.slice(0, Math.max(0, unused.length - limit)))
    await context.delete(revision, { unchanged: true });
}

/** The template that a revision holds. Throws for one that is not ours to read. */
export function templateOf({ metadata, data }: ControllerRevision): PodTemplateSpec {
  const { spec } = (data ?? {}) as { readonly spec?: { readonly template?: PodTemplateSpec & { $patch?: string } } };
  if (spec?.template === undefined) throw new Error(`ControllerRevision "${metadata.name}" holds no pod template`);
  const { $patch: _, ...template } = spec.template;
  return template;
}

/** A strategic merge patch that restores the template: `kubectl rollout undo` sends it as it is. */
function dataOf(template: PodTemplateSpec): RevisionData {
  return { spec: { template: inOrder({ ...template, $patch: "replace" }) as object } };
}

/**
 * Clients compare the bytes of two revisions, so their fields have the order that upstream's encoder makes.
 */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, each]) => [name, inOrder(each)]));
}

function create(
  { object, template, collisions, hashLabel: label = hashLabel }: Templated,
  data: RevisionData,
  revision: number,
  context: ReconcileContext,
): Promise<Stored<ControllerRevision>> {
  const hash = templateHash(template, collisions);
  const labels = { ...template.metadata?.labels, [label]: hash };
  // `kubectl rollout history` shows the cause of a change from here.
  const { name, namespace = "", annotations = {} } = object.metadata;
  return context.create(
    ControllerRevision({ name: `${name}-${hash}`, namespace, labels, annotations, data, revision }),
  );
}
