/** Resolves the plan of a spec: everything that follows sees the cluster as if its spec said it all; pure. */
import { choosePlan } from "@setpoint/data-service";
import type { PersistentVolumeClaim } from "setpoint/kinds";
import { mergedOptions } from "./allowed-options.ts";
import type { EtcdCluster } from "./etcd-cluster.ts";
import { type EtcdPlan, isLarger, type PlanGives } from "./etcd-plans.ts";
import { isGivenUpVolume } from "./member-names.ts";

type Spec = EtcdCluster["spec"];
type Template = NonNullable<Spec["volumeClaimTemplate"]>;
type Resources = PlanGives["resources"];
/** The plan in force, as the status has it. */
export type RecordedPlan = NonNullable<EtcdCluster["status"]>["plan"];

/** A field that the operator does not take over, and why. */
export interface FieldRefusal {
  readonly field: string;
  readonly why: string;
}

export interface AcceptedPlan {
  /** The cluster with what its plan gives. */
  readonly cluster: EtcdCluster;
  readonly record: RecordedPlan;
  readonly refusals: readonly FieldRefusal[];
}

/**
 * `volumes` are those of the members. With a refusal the plan from before stays in force. The record is what
 * a running cluster falls back to, so it changes only when members may change too.
 */
export function acceptPlan(
  cluster: EtcdCluster,
  volumes: readonly PersistentVolumeClaim[],
  catalogue: readonly EtcdPlan[],
  nowMs: number,
): AcceptedPlan {
  const { spec, status } = cluster;
  const before = status?.plan;
  if (spec.plan === undefined && before === undefined) return { cluster, record: undefined, refusals: [] };
  const present = volumes.filter(
    (volume) => volume.metadata.deletionTimestamp === undefined && !isGivenUpVolume(volume),
  );
  const { plan, refusal } = choosePlan(catalogue, spec.plan, before, nowMs);
  const unknown = refusal === undefined ? [] : [{ field: "spec.plan", why: refusal }];
  const shrinking = shrinkingRefusal(cluster, plan, present);
  const inForce = shrinking === undefined ? plan : before;
  const storage = shrinking === undefined ? plannedStorage(plan, before) : before?.gives.storage;
  const own = shrinking === undefined ? spec.volumeClaimTemplate : undefined;
  const template = own ?? templateOf(present, storage ?? smallestOf(present));
  const record = inForce && recordOf(inForce, own === undefined ? template : undefined);
  const isKept = (spec.dryRun || spec.paused) && status?.clusterID !== undefined;
  return {
    cluster: { ...cluster, spec: withPlan(spec, inForce?.gives ?? {}, template) },
    record: isKept ? before : record,
    refusals: shrinking === undefined ? unknown : [...unknown, shrinking],
  };
}

/** A plan that now has smaller volumes has them for new clusters: a volume cannot shrink. */
function plannedStorage(plan: RecordedPlan, before: RecordedPlan): string | undefined {
  const storage = plan?.gives.storage;
  const recorded = plan?.name === before?.name ? before?.gives.storage : undefined;
  if (storage === undefined || recorded === undefined) return storage ?? recorded;
  return isLarger(recorded, storage) ? recorded : storage;
}

/**
 * Looks only at what is new: volumes that have grown by themselves are larger than the spec or the plan says.
 */
function shrinkingRefusal(
  { spec: { volumeClaimTemplate: own }, status }: EtcdCluster,
  plan: RecordedPlan,
  volumes: readonly PersistentVolumeClaim[],
): FieldRefusal | undefined {
  const before = status?.plan;
  const wasPlanned = before?.gives.storage !== undefined;
  const isNew = own === undefined ? !wasPlanned || plan?.name !== before.name : wasPlanned;
  const wanted = own?.resources.requests.storage ?? plan?.gives.storage;
  if (!isNew || wanted === undefined) return undefined;
  const smallest = smallestOf(volumes);
  if (smallest === undefined || !isLarger(smallest, wanted)) return undefined;
  const why = `volumes of ${wanted} are smaller than those of the members, ${smallest}, and a volume cannot shrink`;
  if (own !== undefined) return { field: "spec.volumeClaimTemplate", why };
  return { field: "spec.plan", why: `plan "${plan?.name}": ${why}` };
}

function smallestOf(volumes: readonly PersistentVolumeClaim[]): string | undefined {
  const sizes = volumes.flatMap(({ spec }) => spec?.resources?.requests?.["storage"] ?? []).map(String);
  return sizes.toSorted((a, b) => Number(isLarger(a, b)) - Number(isLarger(b, a)))[0];
}

/** New members get volumes of the same class as those that there are. */
function templateOf(volumes: readonly PersistentVolumeClaim[], storage: string | undefined): Template | undefined {
  if (storage === undefined) return undefined;
  const storageClassName = volumes[0]?.spec?.storageClassName;
  return {
    accessModes: (volumes[0]?.spec?.accessModes as Template["accessModes"] | undefined) ?? ["ReadWriteOnce"],
    ...(storageClassName === undefined ? {} : { storageClassName }),
    resources: { requests: { storage } },
  };
}

/** With the size of the volumes only where the plan decides about it. */
function recordOf({ name, gives }: NonNullable<RecordedPlan>, template: Template | undefined): RecordedPlan {
  const { storage: _, ...rest } = gives;
  return { name, gives: template === undefined ? rest : { ...rest, storage: template.resources.requests.storage } };
}

function withPlan(spec: Spec, gives: PlanGives, template: Template | undefined): Spec {
  const { volumeClaimTemplate: _, ...rest } = spec;
  return {
    ...rest,
    ...(template === undefined ? {} : { volumeClaimTemplate: template }),
    ...(gives.options === undefined ? {} : { options: mergedOptions(gives.options, spec.options) }),
    ...(gives.resources === undefined
      ? {}
      : { pod: { ...spec.pod, resources: mergedResources(spec.pod?.resources, gives.resources) } }),
  };
}

/** A resource that the spec names is the spec's alone: a request must not exceed the limit of the other. */
function mergedResources(own: Resources = {}, given: Resources = {}): NonNullable<Resources> {
  const named = new Set([...Object.keys(own.requests ?? {}), ...Object.keys(own.limits ?? {})]);
  const others = (amounts: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(amounts).filter(([name]) => !named.has(name)));
  return {
    requests: { ...others(given.requests), ...own.requests },
    limits: { ...others(given.limits), ...own.limits },
  };
}
