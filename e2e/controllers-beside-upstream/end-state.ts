/** What a story leaves behind, without what differs in each run: names by chance, times, revisions, UIDs. */
import {
  ConfigMap,
  ControllerRevision,
  CronJob,
  DaemonSet,
  Deployment,
  Endpoints,
  EndpointSlice,
  Job,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  ReplicationController,
  ResourceQuota,
  Service,
  StatefulSet,
} from "@setpoint/api";
import { controllerOf, type KubeObject } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import { sleep } from "@setpoint/host";
import type { Side } from "./sides.ts";
import type { Stage } from "./stage.ts";

const kinds: readonly KindRef[] = [
  Deployment,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
  DaemonSet,
  Job,
  CronJob,
  PodDisruptionBudget,
  ControllerRevision,
  ConfigMap,
  Service,
  Endpoints,
  EndpointSlice,
  ResourceQuota,
  Pod,
];
const quietMs = 3_000;
const quietMsMax = 30_000;

/** Values that are made by chance, of a hash, or of a time. */
const byChance =
  /^(uid|(.*\/)?controller-uid|pod-template-hash|controller-revision-hash|controller\.kubernetes\.io\/hash|ip|addresses|clusterIPs?|podIPs?|.*Time|.*At|targetRef|.*\/cronjob-scheduled-timestamp)$/u;
/** Counts of writes, which each side makes in its own steps, texts, and annotations of one side only. */
const leftOut =
  /^(generation|.*Generation|resourceVersion|managedFields|creationTimestamp|message|.*\/last-change-trigger-time|setpoint\.dev\/.*)$/u;

/** One line an object, once two looks in a row show the same. */
export async function endState(stage: Stage, { host }: Side): Promise<readonly string[]> {
  let before: readonly string[] = [];
  for (let waitedMs = 0; waitedMs < quietMsMax; waitedMs += quietMs) {
    const now = await lines(stage);
    const isPlayed = !now.some((line) => line.includes('"phase":"Pending"'));
    if (isPlayed && waitedMs > 0 && now.join() === before.join()) break;
    before = now;
    await sleep(host.clock, quietMs);
  }
  return before;
}

async function lines(stage: Stage): Promise<readonly string[]> {
  const listed = await Promise.all(kinds.map(async (kind) => ({ kind, objects: await stage.list(kind) })));
  const found = listed.flatMap(({ kind, objects }) => objects.map((object) => lineOf(kind.kind, object)));
  return found.filter((line) => !line.includes("kube-root-ca.crt")).toSorted((a, b) => (a < b ? -1 : 1));
}

function lineOf(kind: string, object: KubeObject): string {
  const { metadata, status, spec } = object as KubeObject & { readonly status?: object; readonly spec?: object };
  const owner = controllerOf(object);
  const name = nameOf(kind, metadata, owner?.name);
  const size = Object.entries(spec ?? {}).filter(([key]) => ["replicas", "suspend", "parallelism"].includes(key));
  const seen = {
    owner: owner?.kind,
    deleting: metadata.deletionTimestamp === undefined ? undefined : true,
    finalizers: metadata.finalizers,
    labels: metadata.labels,
    annotations: metadata.annotations,
    ...Object.fromEntries(size),
    status,
    ...(kind === "EndpointSlice" || kind === "Endpoints" ? withoutHead(object) : {}),
  };
  return `${kind} ${name} ${JSON.stringify(plain(seen))}`;
}

function withoutHead(object: KubeObject): object {
  const head = new Set(["metadata", "apiVersion", "kind"]);
  return Object.fromEntries(Object.entries(object).filter(([field]) => !head.has(field)));
}

/** Names that a controller makes end in a hash or by chance; an ordinal stays. */
function nameOf(kind: string, { name = "", labels }: KubeObject["metadata"], owner: string | undefined): string {
  const hash = labels?.["pod-template-hash"];
  if (kind === "ReplicaSet" && hash !== undefined) return name.replace(hash, "*");
  const isMember = owner !== undefined && /^-\d{1,2}$/u.test(name.slice(owner.length));
  return isMember || (owner === undefined && kind !== "Pod") ? name : "*";
}

/** With the keys in order; conditions in the order of their types. */
function plain(value: unknown, key = ""): unknown {
  if (byChance.test(key) && value !== undefined) return "*";
  if (Array.isArray(value)) {
    const items = value.map((each) => plain(each)).filter((each) => each !== undefined);
    return items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (typeof value === "string") return key.endsWith("Revision") ? "*" : value;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value)
    .filter(([name, each]) => each !== undefined && !leftOut.test(name))
    .map(([name, each]) => [name, plain(each, name)] as const);
  return Object.fromEntries(entries.filter(([, each]) => !isEmpty(each)).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** A count of zero, or an empty list, is the same as none. */
function isEmpty(value: unknown): boolean {
  return value === 0 || value === null || JSON.stringify(value) === "{}" || JSON.stringify(value) === "[]";
}
