/** The objects that are written, with what their metadata keep of the input. */
import type { Outcome, Report } from "./difference.ts";
import type { InputObject } from "./input-object.ts";

export interface OutputObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

export const postgresVersion = "postgres.setpoint.dev/v1";
export const dataVersion = "data.setpoint.dev/v1";

/** In the namespace of the input, without labels and annotations. Fields that are undefined are left out. */
export function besideOf(
  { target }: InputObject,
  { apiVersion, kind, name }: { readonly apiVersion: string; readonly kind: string; readonly name: string },
  spec: Readonly<Record<string, unknown>>,
): OutputObject {
  return {
    ...{ apiVersion, kind },
    metadata: { name, ...(target === undefined ? {} : { namespace: target }) },
    spec: withoutUndefined(spec),
  };
}

/** As `besideOf`, with the labels and annotations of the input that are not CloudNativePG's. */
export function madeOf(
  input: InputObject,
  what: { readonly apiVersion: string; readonly kind: string; readonly name?: string },
  spec: Readonly<Record<string, unknown>>,
): OutputObject {
  const made = besideOf(input, { name: input.name, ...what }, spec);
  const labels = kept(input.metadata.map("labels"));
  const annotations = kept(input.metadata.map("annotations"));
  const metadata = { ...made.metadata, ...withoutUndefined({ labels, annotations }) };
  return { ...made, metadata };
}

/** For the field `instance` of the kinds of `data.setpoint.dev`. */
export function instanceNamed(name: string): Readonly<Record<string, string>> {
  return { apiGroup: "postgres.setpoint.dev", kind: "PostgresCluster", name };
}

export function withoutUndefined(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** Undefined for an object without fields. */
export function unlessEmpty<T extends object>(given: T): T | undefined {
  return Object.keys(given).length === 0 ? undefined : given;
}

const foreignKey = /^([a-z0-9.-]+\.)?(cnpg\.io|kubectl\.kubernetes\.io)\//;

function kept(given: Readonly<Record<string, string>>): Readonly<Record<string, string>> | undefined {
  return unlessEmpty(Object.fromEntries(Object.entries(given).filter(([key]) => !foreignKey.test(key))));
}

/** A field of the spec is made of it. */
export const hibernation = "cnpg.io/hibernation";

const annotationReasons: Readonly<Record<string, readonly [Outcome, string, string?]>> = {
  "cnpg.io/fencedInstances": [
    "byHand",
    "instances are fenced by a field, and those of the new cluster have no data yet",
    "set spec.fencing.members when it runs",
  ],
  "cnpg.io/skipEmptyWalArchiveCheck": ["unneeded", "each cluster has a path of its own in the store"],
  "alpha.cnpg.io/failoverQuorum": ["unneeded", "the operator always counts the quorum of synchronous replicas"],
  "kubectl.kubernetes.io/last-applied-configuration": ["unneeded", "kubectl writes it by itself"],
  "kubectl.kubernetes.io/restartedAt": ["unneeded", "it asked for a restart in the past"],
};
const keptFields = ["name", "namespace", "labels", "annotations"];
const serverFields = ["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"];

/** Reports what of the metadata, and beside the spec, is not written. */
export function compareMetadata({ kind, metadata, value }: InputObject, report: Report): void {
  for (const name of Object.keys(metadata.value)) {
    if (keptFields.includes(name) || !metadata.has(name)) continue;
    if (serverFields.includes(name)) report.add(`metadata.${name}`, "unneeded", "the API server writes it");
    else report.add(`metadata.${name}`, "dropped", "the new object belongs to nothing else");
  }
  for (const key of Object.keys(metadata.map("labels")))
    if (foreignKey.test(key)) report.add(`metadata.labels[${key}]`, "unneeded", "it is CloudNativePG's own");
  for (const key of Object.keys(metadata.map("annotations")).filter((each) => foreignKey.test(each)))
    if (kind !== "Cluster" || key !== hibernation) compareAnnotation(key, report);
  for (const name of Object.keys(value).filter((each) => !["apiVersion", "kind", "metadata", "spec"].includes(each)))
    if (name === "status") report.add("status", "unneeded", "the operator writes the status");
    else report.add(name, "unknown", "CloudNativePG 1.27 has no such field", "check its spelling");
}

function compareAnnotation(key: string, report: Report): void {
  const [outcome, why, todo] =
    annotationReasons[key] ?? (["dropped", "no annotation of CloudNativePG has an effect here"] as const);
  report.add(`metadata.annotations[${key}]`, outcome, why, todo);
}
