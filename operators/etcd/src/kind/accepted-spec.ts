/**
 * The part of a spec that the operator accepts. The operator creates pods with its own rights. A user who may
 * only write EtcdClusters must get nothing but etcd by them: no other image, no traffic of other Services, no
 * agent that reacts to a label or an annotation, no reserved node.
 */
import type { PersistentVolumeClaim, Service } from "setpoint/kinds";
import { nextCronRun } from "setpoint/sources";
import { acceptPlan, type FieldRefusal, type RecordedPlan } from "./accepted-plan.ts";
import { allowedVariables, optionNotice, optionRefusal } from "./allowed-options.ts";
import type { EtcdCluster } from "./etcd-cluster.ts";
import { type EtcdPlan, etcdPlans } from "./etcd-plans.ts";
import { upgradeRefusal } from "./etcd-version.ts";
import type { PinnedImages } from "./related-images.ts";
import { defaultRepository } from "./etcd-cluster.ts";

export interface AcceptanceOptions {
  /** Where images may come from, by exact name. */
  readonly imageRepositories: readonly string[];
  /** Images in place of the usual ones, by version. */
  readonly pinnedImages: PinnedImages;
  /** Domains of labels and annotations that members' pods may have, besides names without a domain. */
  readonly metadataDomains: readonly string[];
  /** Sizes that `spec.plan` may name. */
  readonly plans: readonly EtcdPlan[];
}

export const acceptanceDefaults: AcceptanceOptions = {
  pinnedImages: new Map(),
  imageRepositories: [defaultRepository, "gcr.io/etcd-development/etcd", "registry.k8s.io/etcd"],
  metadataDomains: ["app.kubernetes.io", "prometheus.io"],
  plans: etcdPlans,
};

export interface AcceptedSpec {
  /** The cluster with what its plan gives, and without what was refused. */
  readonly cluster: EtcdCluster;
  /** The plan in force, for the status. */
  readonly plan: RecordedPlan;
  readonly refusals: readonly FieldRefusal[];
  /** What a user should know of fields that are accepted. */
  readonly notices: readonly FieldRefusal[];
}

type PodSpec = NonNullable<EtcdCluster["spec"]["pod"]>;

/** What decides about a spec besides itself. */
export interface SpecSurroundings {
  /** Those of the cluster's namespace, its own among them. */
  readonly services: readonly Service[];
  /** Those of the cluster's members. */
  readonly volumes: readonly PersistentVolumeClaim[];
  readonly nowMs: number;
}

export function acceptSpec(
  wanted: EtcdCluster,
  { services, volumes, nowMs }: SpecSurroundings,
  options: AcceptanceOptions = acceptanceDefaults,
): AcceptedSpec {
  const { cluster, record: plan, refusals: ofPlan } = acceptPlan(wanted, volumes, options.plans, nowMs);
  const { pod = {}, imageRepository } = cluster.spec;
  const version = versionToRun(cluster, nowMs);
  const refusals = [
    ...ofPlan,
    ...imageRefusals(imageRepository, options),
    ...optionRefusals(cluster, version),
    ...variableRefusals(pod.env),
    ...labelRefusals(cluster, services, options),
    ...domainRefusals(annotationAt, pod.annotations, options),
    ...tolerationRefusals(pod.tolerations),
    ...affinityRefusals(pod.affinity),
    ...scheduleRefusals(cluster),
  ];
  const accepted = refusals.length === 0 ? cluster : without(cluster, refusals, options);
  return { cluster: accepted, plan, refusals, notices: optionNotices(accepted, version) };
}

/** That of the spec, unless etcd does not allow the way to it. */
function versionToRun({ spec, status }: EtcdCluster, nowMs: number): string {
  const running = status?.currentVersion;
  if (running === undefined) return spec.version;
  return upgradeRefusal(running, spec.version, nowMs) === undefined ? spec.version : running;
}

function without(
  cluster: EtcdCluster,
  refusals: readonly FieldRefusal[],
  { imageRepositories }: AcceptanceOptions,
): EtcdCluster {
  const fields = new Set(refusals.map(({ field }) => field));
  const { pod, imageRepository, options } = cluster.spec;
  const repository = fields.has("spec.imageRepository") ? imageRepositories[0] : imageRepository;
  return {
    ...cluster,
    spec: {
      ...cluster.spec,
      imageRepository: repository ?? imageRepository,
      maintenance: acceptedMaintenance(cluster, fields),
      ...(options === undefined ? {} : { options: keep(options, optionAt, fields) }),
      ...(pod === undefined ? {} : { pod: acceptedPod(pod, fields) }),
    },
  };
}

const scheduleField = "spec.maintenance.defragmentation.schedule";

function scheduleRefusals({ spec }: EtcdCluster): readonly FieldRefusal[] {
  const { schedule } = spec.maintenance.defragmentation;
  if (schedule === undefined) return [];
  try {
    nextCronRun(schedule, 0);
    return [];
  } catch (error) {
    return [{ field: scheduleField, why: error instanceof Error ? error.message : String(error) }];
  }
}

function acceptedMaintenance(
  { spec: { maintenance } }: EtcdCluster,
  fields: ReadonlySet<string>,
): EtcdCluster["spec"]["maintenance"] {
  if (!fields.has(scheduleField)) return maintenance;
  const { schedule: _, ...rest } = maintenance.defragmentation;
  return { ...maintenance, defragmentation: rest };
}

function acceptedPod(pod: PodSpec, fields: ReadonlySet<string>): PodSpec {
  const { labels, annotations, tolerations, affinity, env, ...rest } = pod;
  return {
    ...rest,
    ...(labels === undefined ? {} : { labels: keep(labels, labelAt, fields) }),
    ...(annotations === undefined ? {} : { annotations: keep(annotations, annotationAt, fields) }),
    ...(env === undefined ? {} : { env: env.filter((_, at) => !fields.has(variableAt(at))) }),
    ...(tolerations === undefined ? {} : { tolerations: tolerations.filter((_, at) => !fields.has(tolerationAt(at))) }),
    ...(affinity === undefined || fields.has(affinityField) ? {} : { affinity }),
  };
}

function keep(
  map: Readonly<Record<string, string>>,
  fieldOf: (key: string) => string,
  fields: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !fields.has(fieldOf(key))));
}

function imageRefusals(repository: string, { imageRepositories }: AcceptanceOptions): readonly FieldRefusal[] {
  if (imageRepositories.includes(repository)) return [];
  const why = `"${repository}" is not one of the repositories that this operator may use: ${imageRepositories.join(", ")}`;
  return [{ field: "spec.imageRepository", why }];
}

const labelAt = (key: string): string => `spec.pod.labels[${key}]`;
const annotationAt = (key: string): string => `spec.pod.annotations[${key}]`;
const optionAt = (name: string): string => `spec.options[${name}]`;
const variableAt = (index: number): string => `spec.pod.env[${index}]`;

/**
 * The server refuses names outside of the list, and variables as well, since they have rules; older objects
 * keep what they have. It does not know what each version has.
 */
function optionRefusals({ spec: { options = {} } }: EtcdCluster, version: string): readonly FieldRefusal[] {
  return Object.keys(options).flatMap((name) => {
    const why = optionRefusal(version, name, options);
    return why === undefined ? [] : [{ field: optionAt(name), why }];
  });
}

function optionNotices({ spec: { options = {} } }: EtcdCluster, version: string): readonly FieldRefusal[] {
  return Object.keys(options).flatMap((name) => {
    const why = optionNotice(version, name);
    return why === undefined ? [] : [{ field: optionAt(name), why }];
  });
}

function variableRefusals(env: PodSpec["env"] = []): readonly FieldRefusal[] {
  return env.flatMap(({ name }, at) =>
    allowedVariables.includes(name) ? [] : [{ field: variableAt(at), why: `"${name}" is no variable of Go's runtime` }],
  );
}

/** The identity of pods in clusters of Azure; it was named before labels had domains. */
const identities: ReadonlySet<string> = new Set(["aadpodidbinding"]);

/** Agents and injectors act on keys of their own domains. */
function domainRefusals(
  fieldOf: (key: string) => string,
  map: Readonly<Record<string, string>> = {},
  { metadataDomains }: AcceptanceOptions,
): readonly FieldRefusal[] {
  const isAccepted = (key: string): boolean =>
    key.includes("/") ? metadataDomains.includes(key.split("/")[0] ?? "") : !identities.has(key);
  const why = `keys have no domain, or one of ${metadataDomains.join(", ")}`;
  return Object.keys(map)
    .filter((key) => !isAccepted(key))
    .map((key) => ({ field: fieldOf(key), why }));
}

/** A Service that selects a member by labels of the spec would send it the traffic of others. */
function labelRefusals(
  { spec: { pod }, metadata: { uid } }: EtcdCluster,
  services: readonly Service[],
  options: AcceptanceOptions,
): readonly FieldRefusal[] {
  const labels = pod?.labels ?? {};
  if (Object.keys(labels).length === 0) return [];
  const refusals = new Map(domainRefusals(labelAt, labels, options).map((each) => [each.field, each]));
  for (const { metadata, spec } of services) {
    if (metadata.ownerReferences?.some((owner) => owner.uid === uid)) continue;
    const why = `Service "${metadata.name ?? ""}" selects pods with it`;
    const wanted = Object.entries(spec?.selector ?? {}).filter(([key, value]) => labels[key] === value);
    for (const [key] of wanted) refusals.set(labelAt(key), { field: labelAt(key), why });
  }
  return [...refusals.values()];
}

function tolerationAt(index: number): string {
  return `spec.pod.tolerations[${index}]`;
}

/**
 * Taints of the control plane keep users' pods away, and a toleration without a key is one of every taint.
 */
function tolerationRefusals(tolerations: PodSpec["tolerations"] = []): readonly FieldRefusal[] {
  return tolerations.flatMap(({ key }, at) => {
    const field = tolerationAt(at);
    if (typeof key !== "string" || key === "") return [{ field, why: "it tolerates every taint; name a key" }];
    return key.startsWith("node-role.kubernetes.io/") ? [{ field, why: `nodes with "${key}" are reserved` }] : [];
  });
}

const affinityField = "spec.pod.affinity";

/** A required anti-affinity keeps the pods that it selects away, those of other namespaces too. */
function affinityRefusals(affinity: PodSpec["affinity"]): readonly FieldRefusal[] {
  const parts = [affinity?.["podAffinity"], affinity?.["podAntiAffinity"]];
  if (!parts.some(namesNamespaces)) return [];
  return [{ field: affinityField, why: "it names other namespaces; use only pods of the cluster's own" }];
}

function namesNamespaces(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(
    ([key, inner]) => key === "namespaces" || key === "namespaceSelector" || namesNamespaces(inner),
  );
}

/** All refusals in one sentence each. */
export function refusalText(refusals: readonly FieldRefusal[]): string {
  return refusals.map(({ field, why }) => `${field}: ${why}`).join("; ");
}
