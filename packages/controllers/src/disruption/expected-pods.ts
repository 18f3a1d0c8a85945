/** How many pods the controllers of a budget's pods are to have. */
import { Deployment, type Pod, ReplicaSet, ReplicationController, StatefulSet } from "@setpoint/api";
import { gvkOf, groupResource, isNotFound, type KubeObject, type OwnerReference } from "@setpoint/apimachinery";
import { readScale, type KindRef, type Stored } from "@setpoint/client";
import { outcome, type ReconcileContext } from "@setpoint/runtime";

/** The sum over the controllers of the pods; the problem, as a sentence, when it cannot be known. */
export interface ExpectedPods {
  readonly count: number;
  /** No controller has these: they do not count. */
  readonly unmanaged: readonly string[];
  readonly problem?: string;
}

interface Scaled {
  readonly uid: string;
  readonly replicas: number;
}

/** Kinds whose scale is read from the cache. */
interface Workload extends KubeObject {
  readonly spec?: { readonly replicas?: number };
}

/** `apiVersion` and kind of the controllers that the cache has. */
const cached: ReadonlyMap<string, KindRef<Workload>> = new Map<string, KindRef<Workload>>([
  ["apps/v1/StatefulSet", StatefulSet],
  ["v1/ReplicationController", ReplicationController],
]);

export async function expectedPods(pods: readonly Stored<Pod>[], context: ReconcileContext): Promise<ExpectedPods> {
  const scales = new Map<string, number>();
  const seen = new Set<string>();
  const unmanaged: string[] = [];
  for (const { metadata } of pods) {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
    if (owner === undefined) unmanaged.push(metadata.name);
    if (owner === undefined || seen.has(owner.uid)) continue;
    seen.add(owner.uid);
    const scaled = await scaleOf(owner, metadata.namespace ?? "", context);
    if (typeof scaled === "string") return { count: 0, unmanaged, problem: scaled };
    if (scaled === undefined)
      return { count: 0, unmanaged, problem: `found no controllers for pod ${JSON.stringify(metadata.name)}` };
    scales.set(scaled.uid, scaled.replicas);
  }
  return { count: [...scales.values()].reduce((sum, count) => sum + count, 0), unmanaged };
}

/** Undefined when the controller is gone; a sentence when it has no scale. */
async function scaleOf(
  owner: OwnerReference,
  namespace: string,
  context: ReconcileContext,
): Promise<Scaled | string | undefined> {
  if (owner.kind === "ReplicaSet" && owner.apiVersion === "apps/v1") return scaleOfReplicaSet(owner, context);
  const kind = cached.get(`${owner.apiVersion}/${owner.kind}`);
  if (kind !== undefined) return sameObject(context.get(kind, owner.name), owner);
  return scaleByName(owner, namespace, context);
}

/** A ReplicaSet of a Deployment is on its way to the Deployment's scale. */
function scaleOfReplicaSet(owner: OwnerReference, context: ReconcileContext): Scaled | undefined {
  const set = context.get(ReplicaSet, owner.name);
  if (set?.metadata.uid !== owner.uid) return undefined;
  const above = set.metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (above?.kind !== "Deployment") return sameObject(set, owner);
  return sameObject(context.get(Deployment, above.name), above);
}

function sameObject(object: Stored<Workload> | undefined, { uid }: OwnerReference): Scaled | undefined {
  return object?.metadata.uid === uid ? { uid, replicas: object.spec?.replicas ?? 1 } : undefined;
}

/** Any other kind answers for itself. */
async function scaleByName(
  owner: OwnerReference,
  namespace: string,
  { client, signal }: ReconcileContext,
): Promise<Scaled | string | undefined> {
  const { name } = owner;
  const kind = (await client.discover({ signal })).ofKind(gvkOf(owner));
  if (kind === undefined) return `no matches for kind ${JSON.stringify(owner.kind)} in version "${owner.apiVersion}"`;
  if (!kind.subresources.includes("scale"))
    return `${groupResource({ group: kind.group, resource: kind.plural })} does not implement the scale subresource`;
  const read = await outcome(readScale(client, kind, { namespace, name }, { signal }));
  if (read.kind === "done") return read.object.uid === owner.uid ? read.object : undefined;
  if (read.kind === "refused") return isNotFound(read.error) ? undefined : read.error.message;
  throw read.error;
}
