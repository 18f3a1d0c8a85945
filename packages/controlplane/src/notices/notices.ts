/** What nothing in this cluster will do about an object, although the API accepts it. */
import {
  type CronJob,
  type Deployment,
  type Ingress,
  IngressClass,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type PodSpec,
  type PodTemplate,
  type Service,
  StorageClass,
} from "@setpoint/api";
import { type KubeObject, lookupTable, parseApiVersion } from "@setpoint/apimachinery";
import type { ObjectReader } from "@setpoint/apiserver";
import { adviceFor, type KindActors, kindKey } from "./kind-actors.ts";

/** One sentence for the author of an object, with what to do. */
export interface Notice {
  /** Of the Event. */
  readonly reason: "NotHandled" | "NotImplemented" | "NotSupported";
  readonly message: string;
}

/** What the nodes of the cluster do. */
export interface NodeAbilities {
  /** Sentences about the fields of a pod that no node honours, each with what to do. */
  podNotices(this: void, spec: PodSpec): readonly string[];
  /** The provisioners of StorageClasses whose volumes they make. */
  readonly provisioners: readonly string[];
}

export interface NoticeRules {
  readonly actors: KindActors;
  readonly nodes: NodeAbilities;
  readonly reader: ObjectReader;
}

const defaultScheduler = "default-scheduler";

type Rule = (object: KubeObject, rules: NoticeRules) => readonly Notice[];

/** Rules by `group/Kind`, beside that of kinds without an actor. The schema has checked what they read. */
const byKind: Readonly<Record<string, Rule>> = lookupTable<Rule>({
  "/Pod": (pod, rules) => podNotices((pod as Pod).spec, rules),
  "/PodTemplate": (template, rules) => podNotices((template as PodTemplate).template?.spec, rules),
  "/ReplicationController": templateNotices,
  "apps/DaemonSet": templateNotices,
  "apps/Deployment": templateNotices,
  "apps/ReplicaSet": templateNotices,
  "apps/StatefulSet": templateNotices,
  "batch/Job": templateNotices,
  "batch/CronJob": (job, rules) => podNotices((job as CronJob).spec.jobTemplate.spec?.template.spec, rules),
  "/Service": (service) => serviceNotices(service as Service),
  "/PersistentVolume": (volume, rules) => volumeNotices(volume as PersistentVolume, rules),
  "/PersistentVolumeClaim": (claim, rules) => claimNotices(claim as PersistentVolumeClaim, rules),
  "storage.k8s.io/StorageClass": (each, rules) => classNotices(each as StorageClass, rules),
});

/** The kinds whose objects may cause a notice. */
export function mayCauseNotice(key: string, actors: KindActors): boolean {
  return byKind[key] !== undefined || !actors.has(key);
}

export function noticesOf(object: KubeObject, rules: NoticeRules): readonly Notice[] {
  const key = kindKey(parseApiVersion(object.apiVersion).group, object.kind);
  // What a controller made has its notices at the object that it was made for.
  if (object.metadata.ownerReferences?.some(({ controller }) => controller === true) === true) return [];
  const unhandled = rules.actors.has(key) ? [] : unhandledNotices(object, key, rules.reader);
  return [...unhandled, ...(byKind[key]?.(object, rules) ?? [])];
}

function unhandledNotices(object: KubeObject, key: string, reader: ObjectReader): readonly Notice[] {
  if (key === "networking.k8s.io/Ingress" && hasClass(object as Ingress, reader)) return [];
  if (key === "apiregistration.k8s.io/APIService" && isLocal(object)) return [];
  const message = `${object.kind} is only stored, because nothing in this cluster acts on it: ${adviceFor(key)}`;
  return [{ reason: "NotHandled", message }];
}

/** An installed Ingress controller has its class. */
function hasClass({ spec }: Ingress, reader: ObjectReader): boolean {
  const name = spec?.ingressClassName;
  return name !== undefined && reader.get(IngressClass.group, IngressClass.plural, "", name) !== undefined;
}

/** The API server itself serves the group. */
function isLocal(object: KubeObject): boolean {
  return (object as { readonly spec?: { readonly service?: unknown } }).spec?.service === undefined;
}

/** All kinds with a template have it in the same place. */
function templateNotices(object: KubeObject, rules: NoticeRules): readonly Notice[] {
  return podNotices((object as Deployment).spec?.template?.spec, rules);
}

function podNotices(spec: PodSpec | undefined, { nodes }: NoticeRules): readonly Notice[] {
  if (spec === undefined) return [];
  const { schedulerName = "" } = spec;
  const fields = nodes.podNotices(spec).map((message) => ({ reason: "NotSupported", message }) as const);
  if (schedulerName === "" || schedulerName === defaultScheduler) return fields;
  return [
    ...fields,
    {
      reason: "NotImplemented",
      message: `No scheduler "${schedulerName}" is part of this cluster, so the pod waits for one: remove spec.schedulerName, or run the scheduler`,
    },
  ];
}

function serviceNotices({ spec }: Service): readonly Notice[] {
  if (spec?.type !== "LoadBalancer") return [];
  const message =
    "This cluster has no load balancer, so the Service gets no external address: reach it from this machine at 127.0.0.1 and its node port, or install a load balancer";
  return [{ reason: "NotImplemented", message }];
}

function classNotices({ provisioner }: StorageClass, { nodes }: Pick<NoticeRules, "nodes">): readonly Notice[] {
  return nodes.provisioners.includes(provisioner) ? [] : [notProvisioned(provisioner, nodes)];
}

function claimNotices({ spec }: PersistentVolumeClaim, { nodes, reader }: NoticeRules): readonly Notice[] {
  const { storageClassName = "", volumeName = "" } = spec ?? {};
  if (storageClassName === "" || volumeName !== "") return [];
  const found = reader.get(StorageClass.group, StorageClass.plural, "", storageClassName);
  if (found !== undefined) return classNotices(found as KubeObject as StorageClass, { nodes });
  const message = `There is no StorageClass "${storageClassName}", so the claim waits for a volume: use one of "kubectl get storageclass", or create it`;
  return [{ reason: "NotImplemented", message }];
}

function notProvisioned(provisioner: string, { provisioners }: NodeAbilities): Notice {
  const message = `Nothing in this cluster provisions volumes as "${provisioner}", so claims of the class wait: use a class of the provisioner ${provisioners.join(", ")}, or install that provisioner`;
  return { reason: "NotImplemented", message };
}

const provisionedBy = "pv.kubernetes.io/provisioned-by";

function volumeNotices({ metadata }: PersistentVolume, { nodes }: NoticeRules): readonly Notice[] {
  if (nodes.provisioners.includes(metadata.annotations?.[provisionedBy] ?? "")) return [];
  const message =
    "Nodes of this cluster mount no PersistentVolume that they did not make: create a PersistentVolumeClaim of the default StorageClass, which makes one";
  return [{ reason: "NotSupported", message }];
}
